import Foundation
import PabalMailbox
import PabalPrimitives
import Testing

@Suite final class MailboxTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mailbox-" + UUID().uuidString)
    .path
  private var incoming: String { folder + "/push/v1/in" }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      // The test wrote nothing.
    }
  }

  private func mailbox(_ files: DurableFiles = .live) -> Mailbox {
    Mailbox(folder: folder, files: files, randomness: .seeded(1))
  }

  /// Without waiting for the disk hundreds of times, where only names and contents count.
  private static var impatient: DurableFiles {
    var files = DurableFiles.live
    files.write = { path, bytes throws(DurableFileError) in
      guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
        throw DurableFileError("write", number: 1)
      }
    }
    files.syncDirectory = { _ throws(DurableFileError) in }
    return files
  }

  private func record(_ number: Int64) -> MailboxRecord {
    MailboxRecord(
      messageID: "msg_\(number)", deliveryID: "dlv_\(number)", receivedAt: WallTime(milliseconds: 1_000 + number))
  }

  @Test func `records come out in the order of receipt, and once removed not again`() throws {
    let mailbox = mailbox()
    for number in [2, 1, 3] as [Int64] { try mailbox.put(record(number)) }
    let entries = try mailbox.entries()
    #expect(entries.map(\.record) == [record(1), record(2), record(3)])
    try mailbox.remove(Array(entries.prefix(2)))
    try mailbox.remove(Array(entries.prefix(2)))
    #expect(try mailbox.entries().map(\.record) == [record(3)])
  }

  @Test func `an empty mailbox has no folder and is no error`() throws {
    #expect(try mailbox().entries().isEmpty)
  }

  @Test func `format 1: the version byte, then JSON`() throws {
    try mailbox().put(record(1))
    let name = try #require(try DurableFiles.live.list(incoming).first)
    #expect(name.hasPrefix("00000000001001-"))
    let bytes = try #require(try DurableFiles.live.read("\(incoming)/\(name)"))
    #expect(bytes.first == 1)
    #expect(
      String(decoding: bytes.dropFirst(), as: UTF8.self) == #"{"kind":"receipt","m":"msg_1","d":"dlv_1","at":1001}"#)
  }

  @Test func `a later version is left for a later app; what is broken is set aside`() throws {
    try mailbox().put(record(1))
    try DurableFiles.live.write("\(incoming)/00000000000002-later", [2, 0x7B, 0x7D])
    try DurableFiles.live.write("\(incoming)/00000000000003-broken", [1] + Array("{\"kind\"".utf8))
    try DurableFiles.live.write("\(incoming)/00000000000004-empty", [])
    #expect(try mailbox().entries().map(\.record) == [record(1)])
    #expect(try DurableFiles.live.list(incoming).count == 2)
    #expect(try DurableFiles.live.list(folder + "/push/v1/broken").count == 2)
  }

  @Test func `five hundred records are kept, the newest`() throws {
    let mailbox = mailbox(Self.impatient)
    for number in 0..<502 as Range<Int64> { try mailbox.put(record(number)) }
    let entries = try mailbox.entries()
    #expect(entries.count == 500)
    #expect(entries.first?.record == record(2))
  }

  @Test func `at every step that fails, the record is there whole or not at all`() throws {
    let clean = CountingFiles()
    try mailbox(clean.files).put(record(1))
    let steps = clean.count
    #expect(steps > 6)
    for step in 1...steps {
      let folder = folder + "/step-\(step)"
      let failing = CountingFiles(failAt: step)
      let mailbox = Mailbox(folder: folder, files: failing.files, randomness: .seeded(1))
      #expect(throws: DurableFileError.self) { try mailbox.put(record(1)) }
      let after = Mailbox(folder: folder, randomness: .seeded(2))
      let found = try after.entries().map(\.record)
      #expect(found.isEmpty || found == [record(1)])
      try after.put(record(2))
      #expect(try after.entries().map(\.record).last == record(2))
    }
  }

  @Test func `the content is on disk before its name is, and the name before put returns`() throws {
    let files = CountingFiles()
    try mailbox(files.files).put(record(1))
    #expect(Array(files.journal.suffix(3)) == ["write", "rename", "syncDirectory"])
  }

  @Test func `writers do not disturb each other or the reader`() async throws {
    let folder = folder
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 as Range<Int64> {
        group.addTask {
          let mailbox = Mailbox(folder: folder, files: Self.impatient, randomness: .seeded(UInt64(writer) + 10))
          for number in 0..<25 as Range<Int64> {
            try mailbox.put(
              MailboxRecord(
                messageID: "m", deliveryID: "\(writer)-\(number)", receivedAt: WallTime(milliseconds: number)))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(Set(try mailbox().entries().map(\.record.deliveryID)).count == 100)
  }
}

/// The live file system with its operations counted; one of them can fail.
final class CountingFiles: Sendable {
  private let log = Locked<[String]>([])
  private let failAt: Int?

  init(failAt: Int? = nil) {
    self.failAt = failAt
  }

  var journal: [String] { log.withLock { $0 } }
  var count: Int { journal.count }

  private func step(_ name: String) throws(DurableFileError) {
    let count = log.withLock { log in
      log.append(name)
      return log.count
    }
    if count == failAt { throw DurableFileError(name, number: 28) }
  }

  var files: DurableFiles {
    let live = DurableFiles.live
    return DurableFiles(
      makeDirectory: { path throws(DurableFileError) in
        try self.step("makeDirectory")
        try live.makeDirectory(path)
      },
      list: { path throws(DurableFileError) in
        try self.step("list")
        return try live.list(path)
      },
      read: { path throws(DurableFileError) in
        try self.step("read")
        return try live.read(path)
      },
      write: { path, bytes throws(DurableFileError) in
        do throws(DurableFileError) {
          try self.step("write")
        } catch {
          // Half of it has arrived when the disk is full.
          try live.write(path, Array(bytes.prefix(bytes.count / 2)))
          throw error
        }
        try live.write(path, bytes)
      },
      append: { path, bytes throws(DurableFileError) in
        try self.step("append")
        try live.append(path, bytes)
      },
      rename: { from, to throws(DurableFileError) in
        try self.step("rename")
        try live.rename(from, to)
      },
      remove: { path throws(DurableFileError) in
        try self.step("remove")
        try live.remove(path)
      },
      syncDirectory: { path throws(DurableFileError) in
        try self.step("syncDirectory")
        try live.syncDirectory(path)
      })
  }
}
