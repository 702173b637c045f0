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

  private static let digests: [String] = []

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
