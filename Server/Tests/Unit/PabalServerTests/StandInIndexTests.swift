import PabalModel
import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// The file that gives the stand-in's devices their names again: never much longer than there are devices, and whole.
@Suite struct StandInIndexTests {
  private struct DiskTrouble: Error {}

  private func key(_ number: Int) -> String { Hex.encode(SeededBytes.of(number)) }

  private func name(_ number: Int) -> StandInIndex.Name {
    StandInIndex.Name(id: "d\(number)", environment: number % 2 == 0 ? .sandbox : .production)
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try TestFiles.read(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("2,000 devices come, ten stay: the file never holds more than the bound, and after a start those ten")
  func comingAndGoing() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("devices")
    let index = try StandInIndex(path: path)
    var living: [String] = []
    let bound = StandInIndexLimits.lines(living: 10)
    for number in 0..<2_000 {
      living = living.suffix(9) + [key(number)]
      try await index.remember(name(number), as: key(number))
      try await index.sweepWhenDue { living.forEach(index.see) }
      try #require(index.lines <= bound, "\(number)")
    }
    #expect(try lines(path).count == index.lines)

    let next = try StandInIndex(path: path)
    try await next.sweep { living.forEach(next.see) }
    #expect(try Set(lines(path).map { $0.prefix(32) }) == Set(living.map { $0[...] }))
    #expect(next.name(of: key(1_999)) == name(1_999))
    #expect(next.name(of: key(0)) == nil)
  }

  @Test("a look through the devices is worth it only when dead lines may outnumber the living")
  func due() async throws {
    let folder = try TemporaryFolder()
    let index = try StandInIndex(path: folder.file("devices"))
    var looks = 0
    for number in 0..<1_000 {
      try await index.remember(name(number), as: key(number))
      // The same again costs no line.
      try await index.remember(name(number), as: key(number))
      try await index.sweepWhenDue {
        looks += 1
        (0...number).map(key).forEach(index.see)
      }
    }
    // All live: at 65, 131, 263 and 527 lines.
    #expect(looks == 4)
    #expect(index.lines == 1_000)
  }

  @Test("a torn last line costs its own device at most, wherever it is cut") func torn() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("devices")
    let whole = (1...3).map { "\(key($0)) d\($0) \(name($0).environment.rawValue)\n" }
    for cut in 0...whole[2].utf8.count {
      try TestFiles.write(whole[0] + whole[1] + whole[2].prefix(cut), to: path)
      let index = try StandInIndex(path: path)
      try await index.remember(name(4), as: key(4))
      let next = try StandInIndex(path: path)
      for number in [1, 2, 4] { #expect(next.name(of: key(number)) == name(number), "cut after \(cut)") }
      // What lacks its end alone lacks nothing.
      let isWhole = cut >= whole[2].utf8.count - 1
      #expect(next.name(of: key(3)) == (isWhole ? name(3) : nil), "cut after \(cut)")
      #expect(try lines(path).count == next.lines && next.lines == (isWhole ? 4 : 3))
    }
  }

  @Test("lines that say nothing and names that have changed are gone after a start") func repaired() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("devices")
    let text = "\(key(1)) old sandbox\nnonsense\n\(key(2)) d2 elsewhere\n\n\(key(1)) new production\n"
    try TestFiles.write(text, to: path)
    let index = try StandInIndex(path: path)
    #expect(index.name(of: key(1)) == StandInIndex.Name(id: "new", environment: .production))
    #expect(try lines(path) == ["\(key(1)) new production"])
  }

  @Test("a device that comes while the others are looked through stays; one that was not seen goes")
  func meanwhile() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("devices")
    let index = try StandInIndex(path: path)
    for number in 1...3 { try await index.remember(name(number), as: key(number)) }
    try await index.sweep {
      index.see(key(1))
      try await index.remember(name(4), as: key(4))
      // Known before, and here again.
      try await index.remember(name(3), as: key(3))
    }
    #expect(try Set(lines(path)) == Set([1, 3, 4].map { "\(key($0)) d\($0) \(name($0).environment.rawValue)" }))
    #expect(index.name(of: key(2)) == nil)
    // Its own sweep counts from anew.
    try await index.sweep { index.see(key(4)) }
    #expect(try lines(path).count == 1)
  }

  @Test("a look that fails forgets nobody, and is not repeated with each device") func failedLook() async throws {
    let folder = try TemporaryFolder()
    let index = try StandInIndex(path: folder.file("devices"))
    for number in 0...StandInIndexLimits.fewLines { try await index.remember(name(number), as: key(number)) }
    await #expect(throws: DiskTrouble.self) { try await index.sweepWhenDue { throw DiskTrouble() } }
    #expect(index.name(of: key(0)) == name(0))
    var looks = 0
    for number in 1_000..<1_000 + StandInIndexLimits.fewLines {
      try await index.remember(name(number), as: key(number))
      try await index.sweepWhenDue { looks += 1 }
    }
    #expect(looks == 0)
    try await index.remember(name(2_000), as: key(2_000))
    try await index.sweepWhenDue { looks += 1 }
    #expect(looks == 1)
    #expect(index.lines == 0)
  }

  @Test("the file stays as it was until the new one is whole; what a crash left of a new one is of no account")
  func crashSafe() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("devices")
    let index = try StandInIndex(path: path)
    for number in 1...2 { try await index.remember(name(number), as: key(number)) }
    let before = try TestFiles.read(path)
    // A folder in the draft's place: it cannot be written.
    let blocked = try StandInIndex(path: path)
    try TestFiles.makeFolder(path + ".new")
    await #expect(throws: UpError.self) { try await blocked.sweep { blocked.see(key(1)) } }
    #expect(try TestFiles.read(path) == before)
    try TestFiles.removeFolder(path + ".new")

    try TestFiles.write("\(key(9)) d9 sand", to: path + ".new")
    let next = try StandInIndex(path: path)
    try await next.sweep { next.see(key(1)) }
    #expect(try lines(path) == ["\(key(1)) d1 production"])
    #expect(throws: TestFiles.Failure.self) { try TestFiles.read(path + ".new") }
  }

  @Test("a line that cannot be written is told of, and tried again") func unwritable() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("later/devices")
    let index = try StandInIndex(path: path)
    await #expect(throws: UpError.self) { try await index.remember(name(1), as: key(1)) }
    try TestFiles.makeFolder(folder.file("later"))
    try await index.remember(name(1), as: key(1))
    #expect(try lines(path) == ["\(key(1)) d1 production"])
  }
}

private enum SeededBytes {
  static func of(_ number: Int) -> [UInt8] { Randomness.seeded(UInt64(number)).fill(16) }
}
