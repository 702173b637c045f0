import Cryptography
import PabalPrimitives
import Testing

@Suite struct P256SigningKeyTests {
  @Test("OC-09 a .p8 that differs only in white space loads to the same key")
  func whiteSpaceShapes() throws {
    let body = SampleKeys.pkcs8.split(separator: "\n").dropFirst().dropLast().joined()
    let shapes: [String: String] = [
      "one body line": "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n",
      "no final newline": String(SampleKeys.pkcs8.dropLast()),
      "CRLF": SampleKeys.pkcs8.replacing("\n", with: "\r\n"),
      "spaces": SampleKeys.pkcs8.replacing("\n", with: " "),
      "byte-order mark and blank line": "\u{FEFF}\n" + SampleKeys.pkcs8,
    ]
    #expect(body.count == 184)
    for (name, pem) in shapes {
      let key = try P256SigningKey(pem: pem)
      #expect(Hex.encode(key.publicKey.x963) == SampleKeys.publicPoint, "\(name)")
    }
    let notAKey = Base64.encode(Array("not a key".utf8))
    expectCode("key_malformed", pem: "-----BEGIN PRIVATE KEY-----\n\(notAKey)\n-----END PRIVATE KEY-----\n")
  }

  @Test("OC-10 PKCS#8 and SEC1 load; other keys are refused by their own name")
  func containers() throws {
    let pkcs8 = try P256SigningKey(pem: SampleKeys.pkcs8)
    let sec1 = try P256SigningKey(pem: SampleKeys.sec1WithParameters)
    #expect(pkcs8.publicKey == sec1.publicKey)
    #expect(expectCode("key_wrong_type", pem: SampleKeys.p384).contains("Wrong key type for ES256: found an EC key on"))
    #expect(expectCode("key_wrong_type", pem: SampleKeys.rsa).contains("found RSA, 1024 bits"))
    for encrypted in [SampleKeys.encryptedPKCS8, SampleKeys.encryptedSEC1] {
      #expect(expectCode("key_encrypted", pem: encrypted).contains("encrypted key needs a passphrase"))
    }
  }

  @Test(
    "OC-97 PKCS#8 without the optional inner fields loads and derives the public key",
    arguments: [
      (true, true), (false, true), (false, false),
    ])
  func minimalInnerStructure(parameters: Bool, publicKey: Bool) throws {
    let key = try P256SigningKey(pem: try SampleKeys.pkcs8(parameters: parameters, publicKey: publicKey))
    #expect(Hex.encode(key.publicKey.x963) == SampleKeys.publicPoint)
  }

  @Test func refusesWhatIsNoKey() {
    expectCode("key_not_pem", pem: "")
    expectCode("key_not_pem", pem: "hello")
    #expect(expectCode("key_not_pem", pem: "0\u{1}\u{2}").contains("binary"))
    expectCode("key_malformed", pem: "-----BEGIN PRIVATE KEY-----\nMIGH")
    expectCode("key_malformed", pem: "-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----")
    expectCode("key_wrong_type", pem: "-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----")
  }

  @Test func refusesAKeyWhosePublicPartIsForeign() throws {
    let foreign = Hex.encode(try P256SigningKey.generate().publicKey.x963)
    let pem = try SampleKeys.pkcs8(parameters: true, publicKey: true)
    let body = pem.split(separator: "\n")[1]
    let der = Hex.encode(try #require(Base64.decode(String(body)))).replacing(SampleKeys.publicPoint, with: foreign)
    let mixed = Base64.encode(try #require(Hex.decode(der)))
    expectCode("key_malformed", pem: "-----BEGIN PRIVATE KEY-----\n\(mixed)\n-----END PRIVATE KEY-----\n")
  }

  @Test func signsAndVerifies() throws {
    let key = try P256SigningKey.generate()
    let message = Array("header.claims".utf8)
    let first = try key.sign(message)
    let second = try key.sign(message)
    #expect(first.count == 64)
    #expect(first != second)
    let known = try P256PublicKey(x963: key.publicKey.x963)
    #expect(known.isValid(signature: first, for: message))
    #expect(known.isValid(signature: second, for: message))
    #expect(!known.isValid(signature: first, for: message + [0]))
    #expect(!known.isValid(signature: [UInt8](first.dropLast()), for: message))
    #expect(!known.isValid(signature: [UInt8](repeating: 0, count: 64), for: message))
    let other = try P256SigningKey.generate().publicKey
    #expect(!other.isValid(signature: first, for: message))
  }

  @Test func exportsWhatItReads() throws {
    let key = try P256SigningKey.generate()
    let again = try P256SigningKey(pem: try key.pkcs8PEM())
    #expect(again.publicKey == key.publicKey)
    #expect(!"\(key)".contains(try key.pkcs8PEM().split(separator: "\n")[1]))
  }

  @Test func refusesAPointOffTheCurve() throws {
    var point = try P256SigningKey.generate().publicKey.x963
    point[64] ^= 1
    #expect(throws: CryptographyError.self) { try P256PublicKey(x963: point) }
    #expect(throws: CryptographyError.self) { try P256PublicKey(x963: []) }
  }

  @discardableResult
  private func expectCode(_ code: String, pem: String, at location: SourceLocation = #_sourceLocation) -> String {
    let error = #expect(throws: CryptographyError.self, sourceLocation: location) { try P256SigningKey(pem: pem) }
    #expect(error?.code == code, sourceLocation: location)
    return error?.message ?? ""
  }
}
