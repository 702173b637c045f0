import PabalPrimitives
import Testing

@Suite("Bytes as text")
struct BytesTests {
  @Test(
    "Base64 by the vectors of RFC 4648 section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(plain: String, encoded: String) {
    let unpadded = encoded.filter { $0 != "=" }
    #expect(Base64.encode(Array(plain.utf8)) == encoded)
    #expect(Base64URL.encode(Array(plain.utf8)) == unpadded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
    #expect(Base64.decode(unpadded) == Array(plain.utf8))
    #expect(Base64URL.decode(unpadded) == Array(plain.utf8))
  }

  @Test("The two alphabets differ in two characters")
  func alphabets() {
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    #expect(Base64URL.decode("+/8") == nil)
    #expect(Base64.decode("-_8") == nil)
  }

  @Test("Malformed base64 is refused", arguments: ["A", "Zg=", "Z g=", "Zh==", "=Zg=", "Zg==="])
  func malformedBase64(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("Hex is lower case out, either case in")
  func hex() {
    #expect(Hex.encode([0x00, 0x0F, 0xA0]) == "000fa0")
    #expect(Hex.decode("000Fa0") == [0x00, 0x0F, 0xA0])
    #expect(Hex.decode("0") == nil)
    #expect(Hex.decode("0g") == nil)
  }

  @Test("A ring keeps the newest and counts the rest")
  func ring() {
    var ring = RingBuffer<Int>(capacity: 3)
    for number in 1...5 { ring.append(number) }
    #expect(Array(ring) == [3, 4, 5])
    #expect(ring.droppedCount == 2)
    ring.removeAll()
    #expect(ring.isEmpty)
  }
}
