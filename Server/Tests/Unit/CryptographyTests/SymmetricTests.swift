import Cryptography
import PabalPrimitives
import Testing

@Suite struct SymmetricTests {
  @Test func sha256OfABC() throws {
    let digest = try SHA256.hash(Array("abc".utf8))
    #expect(Hex.encode(digest) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hex.encode(try SHA256.hash([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test func hmacOfRFC4231Case2() throws {
    let mac = try HMACSHA256(key: Array("Jefe".utf8))
    let message = Array("what do ya want for nothing?".utf8)
    let code = try mac.code(for: message)
    #expect(Hex.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(try mac.code(for: message) == code)
    #expect(try mac.isValid(code, for: message))
    #expect(try !mac.isValid(code, for: message + [0]))
    #expect(try !mac.isValid([UInt8](code.dropLast()), for: message))
  }

  @Test func hkdfOfRFC5869Case1() throws {
    let key = try HKDFSHA256.derive(
      from: [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12), info: Array(0xF0...0xF9), byteCount: 42)
    #expect(
      Hex.encode(key)
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
  }

  @Test func hkdfOfRFC5869Case3HasNoSaltAndNoInfo() throws {
    let key = try HKDFSHA256.derive(from: [UInt8](repeating: 0x0B, count: 22), info: [], byteCount: 42)
    #expect(
      Hex.encode(key)
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
  }

  @Test func opensWhatTheStandardSealed() throws {
    let box = String(repeating: "00", count: 12) + "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
    let cipher = try AES256GCM(key: [UInt8](repeating: 0, count: 32))
    #expect(try cipher.open(try #require(Hex.decode(box)), for: []) == [UInt8](repeating: 0, count: 16))
  }

  @Test func sealedBoxesAreFreshAndBoundToTheirPlace() throws {
    let cipher = try AES256GCM(key: try SecureRandom.bytes(32))
    let plain = Array("device token".utf8)
    let place = Array("devices.token.dev_1".utf8)
    let box = try cipher.seal(plain, for: place)
    #expect(box.count == plain.count + AES256GCM.overhead)
    #expect(try cipher.seal(plain, for: place) != box)
    #expect(try cipher.open(box, for: place) == plain)
    #expect(try cipher.open(try cipher.seal([], for: []), for: []) == [])
    for index in box.indices {
      var changed = box
      changed[index] ^= 1
      #expect(throws: CryptographyError.self) { try cipher.open(changed, for: place) }
    }
    #expect(throws: CryptographyError.self) { try cipher.open(box, for: Array("devices.token.dev_2".utf8)) }
    #expect(throws: CryptographyError.self) { try cipher.open([1, 2, 3], for: place) }
    let other = try AES256GCM(key: try SecureRandom.bytes(32))
    #expect(throws: CryptographyError.self) { try other.open(box, for: place) }
    #expect(throws: CryptographyError.self) { try AES256GCM(key: [1]) }
  }

  @Test func permutationOfFIPS197() throws {
    let permutation = try AES256Permutation(key: Array(0...31))
    let block = try #require(Hex.decode("00112233445566778899aabbccddeeff"))
    let mapped = try permutation.apply(to: block)
    #expect(Hex.encode(mapped) == "8ea2b7ca516745bfeafc49904b496089")
    #expect(try permutation.invert(mapped) == block)
    #expect(throws: CryptographyError.self) { try permutation.apply(to: [1]) }
  }

  @Test func randomBytesDiffer() throws {
    #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
    #expect(try SecureRandom.bytes(0) == [])
  }
}
