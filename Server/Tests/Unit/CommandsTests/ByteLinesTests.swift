import ArgumentParsing
import Commands
import PabalPrimitives
import Testing

@Suite struct ByteLinesTests {
  private static func read(_ bytes: [UInt8], lineBytes: Int) throws -> [(text: String, isCut: Bool)] {
    let list = try ListFile(bytes)
    var lines = ByteLines(list.file, lineBytes: lineBytes)
    var found: [(String, Bool)] = []
    while let range = try lines.next() {
      found.append((String(decoding: lines.copy(range), as: UTF8.self), lines.isCut))
      #expect(lines.number == found.count)
      #expect(lines.bytes(range) { $0.count } == range.count)
    }
    return found
  }

  @Test func cutsAtLineFeeds() throws {
    let lines = try Self.read(Array("a\n\nb\r\nlast".utf8), lineBytes: 10)
    #expect(lines.map(\.text) == ["a", "", "b\r", "last"])
    #expect(lines.allSatisfy { !$0.isCut })
    #expect(try Self.read([], lineBytes: 10).isEmpty)
    #expect(try Self.read(Array("\n".utf8), lineBytes: 10).map(\.text) == [""])
  }

  @Test func aMarkAtTheStartIsNoPartOfTheList() throws {
    let lines = try Self.read([0xEF, 0xBB, 0xBF] + Array("a\n".utf8) + [0xEF, 0xBB, 0xBF], lineBytes: 10)
    #expect(lines.map(\.text) == ["a", "\u{FEFF}"])
  }

  @Test func anEndlessLineIsCutAndTheNextOneIsWhole() throws {
    let long = [UInt8](repeating: 0x61, count: 3 * ByteLines.chunkBytes)
    let lines = try Self.read(long + Array("\nb\n".utf8) + long, lineBytes: 100)
    #expect(lines.map(\.isCut) == [true, false, true])
    #expect(lines[0].text == String(repeating: "a", count: 100))
    #expect(lines[1].text == "b")
  }

  @Test("lines of any length come out as they went in, wherever chunks end") func chunks() throws {
    var generator = SeededGenerator(seed: 11)
    var expected: [String] = []
    var bytes: [UInt8] = []
    for _ in 0..<5000 {
      let line = String(repeating: "x", count: Int.random(in: 0...90, using: &generator))
      expected.append(line)
      bytes += Array(line.utf8) + [0x0A]
    }
    #expect(try Self.read(bytes, lineBytes: 90).map(\.text) == expected)
  }
}
