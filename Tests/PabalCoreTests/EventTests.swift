import Foundation
import PabalCore
import PabalMailbox
import PabalModel
import PabalPrimitives
import Testing

@Suite final class EventTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("journal-" + UUID().uuidString)
    .path

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      // The test wrote nothing.
    }
  }

  private func event(_ number: Int, _ kind: EventKind = .opened) -> ClientEvent {
    ClientEvent(
      id: "e\(number)", kind: kind,
      identity: PushIdentity(
        message: MessageID(rawValue: "msg_\(number)"), delivery: DeliveryID(rawValue: "dlv_\(number)")),
      at: WallTime(milliseconds: 1_800_000_000_123), action: "default")
  }

  private func ids(_ batch: EventJournal.Batch?) throws -> [String] {
    try batch?.events.compactMap { try JSONSlice(parsing: $0.encoded)["eventId"]?.string } ?? []
  }

  @Test func `the event id is the same for ever`() {
    #expect(
      EventID.make(delivery: "dlv_1", presentedAt: WallTime(milliseconds: 1_800_000_000_000), action: "default")
        == "43dbf3cbe0a5f992a7c9557ffcdccc76")
    #expect(
      EventID.make(delivery: "dlv_1", presentedAt: nil, action: "received")
        != EventID.make(delivery: "dlv_2", presentedAt: nil, action: "received"))
  }

  @Test func `the wire form of an event`() {
    #expect(
      String(decoding: event(1).json.encoded, as: UTF8.self)
        == #"{"kind":"opened","deliveryId":"dlv_1","messageId":"msg_1","at":"2027-01-15T08:00:00.123Z","#
        + #""action":"default","eventId":"e1"}"#
    )
  }

  @Test("OC-41 a token is two digits a byte, leading zeros kept, from the bytes only") func tokenFromData() {
    #expect(DeviceToken(data: Data([0x00, 0x0F, 0xA0]))?.hex == "000fa0")
    #expect(DeviceToken(data: Data()) == nil)
  }

  @Test func `a later process finds what an earlier one wrote, and knows it`() throws {
    var first = try EventJournal(folder: folder, files: .live)
    #expect(try first.append([event(1), event(2), event(1)]) == 2)
    var second = try EventJournal(folder: folder, files: .live)
    #expect(try second.append([event(2), event(3)]) == 1)
    let batch = try #require(try second.nextBatch())
    #expect(try ids(batch) == ["e1", "e2"])
    try second.acknowledge(batch.name)
    #expect(try ids(try second.nextBatch()) == ["e3"])
  }

  @Test func `a torn last line loses itself and nothing else`() throws {
    var journal = try EventJournal(folder: folder, files: .live)
    _ = try journal.append([event(1)])
    let name = try #require(try DurableFiles.live.list(folder).first)
    try DurableFiles.live.append("\(folder)/\(name)", Array(#"{"kind":"open"#.utf8))
    var next = try EventJournal(folder: folder, files: .live)
    _ = try next.append([event(2)])
    let batch = try #require(try next.nextBatch())
    #expect(try ids(batch) == ["e1"])
    #expect(next.torn == 1)
    try next.acknowledge(batch.name)
    #expect(try ids(try next.nextBatch()) == ["e2"])
  }

  @Test func `nothing is ever written behind a line that could not be finished`() throws {
    let failing = Locked(false)
    var files = DurableFiles.live
    files.append = { path, bytes throws(DurableFileError) in
      guard failing.withLock({ $0 }) else { return try DurableFiles.live.append(path, bytes) }
      try DurableFiles.live.append(path, Array(bytes.prefix(10)))
      throw DurableFileError("write", number: 28)
    }
    var journal = try EventJournal(folder: folder, files: files)
    _ = try journal.append([event(1)])
    failing.withLock { $0 = true }
    #expect(throws: DurableFileError.self) { try journal.append([event(2)]) }
    failing.withLock { $0 = false }
    #expect(try journal.append([event(2)]) == 1)
    var found: [String] = []
    while let batch = try journal.nextBatch() {
      found += try ids(batch)
      try journal.acknowledge(batch.name)
    }
    #expect(found == ["e1", "e2"])
  }

  @Test func `a batch has 500 events at most`() throws {
    var journal = try EventJournal(folder: folder, files: .live)
    _ = try journal.append((0..<620).map { event($0) })
    var total = 0
    while let batch = try journal.nextBatch() {
      #expect(batch.events.count <= 500)
      total += batch.events.count
      try journal.acknowledge(batch.name)
    }
    #expect(total == 620)
    #expect(journal.isEmpty)
  }

  @Test func `refused batches are set aside, sixteen of them`() throws {
    var journal = try EventJournal(folder: folder, files: .live)
    for number in 0..<20 {
      _ = try journal.append([event(number)])
      let batch = try #require(try journal.nextBatch())
      try journal.quarantine(batch.name)
    }
    #expect(journal.isEmpty)
    #expect(try DurableFiles.live.list(folder + "/refused").count == 16)
    #expect(try EventJournal(folder: folder, files: .live).isEmpty)
  }

  @Test("a network's log-in page answers 200 as well: the events are kept", arguments: ["<html>", "", "{}", "[]"])
  func strangers(_ body: String) {
    var machine = UploadMachine(randomness: .seeded(1))
    _ = machine.handle(.appended)
    let actions = machine.handle(.finished(CallOutcome(HTTPAnswer(status: 200, body: Array(body.utf8)))))
    #expect(actions.count == 1)
    guard case .schedule? = actions.first else {
      Issue.record("not kept: \(actions)")
      return
    }
    #expect(machine.handle(.retryDue) == [.sendNext])
  }

  @Test func `the upload follows the answers`() {
    var machine = UploadMachine(randomness: .seeded(1))
    #expect(machine.handle(.appended) == [.sendNext])
    #expect(machine.handle(.appended).isEmpty)
    let taken = HTTPAnswer(status: 202, body: Array(#"{"accepted":1,"duplicates":0,"rejected":[]}"#.utf8))
    #expect(machine.handle(.finished(CallOutcome(taken))) == [.acknowledge, .sendNext])
    #expect(machine.handle(.finished(CallOutcome(HTTPAnswer(status: 400)))) == [.quarantine, .sendNext])
    let later = machine.handle(.finished(CallOutcome(HTTPAnswer(status: 503, headers: ["retry-after": "60"]))))
    guard case .schedule(let wait)? = later.first else {
      Issue.record("not scheduled")
      return
    }
    #expect(wait >= .seconds(60))
    #expect(machine.isAtRest)
    #expect(machine.handle(.appended).isEmpty)
    #expect(machine.handle(.retryDue) == [.sendNext])
    // A revoked key is no reason to throw events away.
    let revoked = machine.handle(.finished(CallOutcome(HTTPAnswer(status: 401))))
    #expect(!revoked.contains(.quarantine))
    #expect(machine.handle(.nudge) == [.cancelTimer, .sendNext])
    #expect(machine.handle(.nothingToSend).isEmpty)
  }
}
