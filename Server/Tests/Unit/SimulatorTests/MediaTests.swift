import Cryptography
import PabalPrimitives
import Simulator
import TestSupport
import Testing

@Suite struct MediaTests {
  @Test("the bytes never change") func stable() throws {
    let digests = try StandInMedia.allCases.map { "\($0.rawValue) \(Hex.encode(try SHA256.hash($0.bytes)))" }
    #expect(digests == Self.digests)
  }

  private static let digests = [
    "sample.png 21eb9ce8bc4feea95f6696042aebb3564bb03ffd284fd8de78359cc1a4633687",
    "sample.mp4 b414e11cee7a125c7d549853c9838c01e90c26bdc5cb308d90c4ba44bc786d2e",
    "lying.png 29b4a85686f9371751a10d5d8af1afe9e52046837c4ae1c58645dece0eca28a8",
    "truncated.png ab33275e32e801b805300be9a2453eb65e113caf36c228710d4e17910a464d3d",
  ]

  @Test("each is what its story says") func kinds() {
    let png = StandInMedia.samplePNG.bytes
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    #expect(png.suffix(8).elementsEqual([0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]))
    #expect(StandInMedia.lyingPNG.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
    #expect(StandInMedia.lyingPNG.bytes.suffix(2).elementsEqual([0xFF, 0xD9]))
    #expect(StandInMedia.truncatedPNG.bytes.count == png.count / 2)
    #expect(png.starts(with: StandInMedia.truncatedPNG.bytes))
    #expect(StandInMedia.sampleMP4.bytes[4..<8].elementsEqual("ftyp".utf8))
  }

  @Test("boxes of the MP4 fill the file exactly") func boxes() {
    let bytes = StandInMedia.sampleMP4.bytes
    var names: [String] = []
    var offset = 0
    while offset + 8 <= bytes.count {
      let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
      guard size >= 8 else { break }
      offset += size
    }
    #expect(names == ["ftyp", "moov", "mdat"])
    #expect(offset == bytes.count)
  }
}
