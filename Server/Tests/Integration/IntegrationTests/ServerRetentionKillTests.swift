import PabalModel
import PabalPrimitives
import SQLiteDriver
import SQLiteStorage
import Storage
import StorageConformance
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The server dies by SIGKILL in the middle of retention, again and again, until a start finishes the job. After each
/// death the files are looked at as they were left, before anybody repairs them.
@Suite(.serialized) struct ServerRetentionKillTests {
  /// Some ten deaths in `make test`, and as many again for each further unit of `PABAL_TEST_SCALE`.
  private static let scale = getenv("PABAL_TEST_SCALE").flatMap { UInt64(String(cString: $0)) } ?? 1

  @Test("killed again and again in mid-retention: whole files, nothing young lost, and the last pass finishes the job")
  func kills() async throws {
    for round in 0..<Self.scale {
      let stage = try await RetentionKillStage(seed: 20_270_401 + round)
      let findings = try await stage.run()
      #expect(findings.problems == [], "seed \(20_270_401 + round)")
      #expect(findings.kills >= 6, "\(findings)")
      #expect(findings.killsInMidMessage >= findings.kills / 2, "\(findings)")
      print("retention kill test: \(findings)")
    }
  }
}

/// What lies in a store, by tables: read past the storage, which might hide what is wrong.
private struct TableCounts: Sendable {
  var integrity: [String]
  var brokenReferences: Int
  /// Rows of messages that are neither there nor going.
  var orphans: Int64
  var going: Int64
  var livingClaims: Int64
  var overClaims: Int64
  /// Of all tables that retention takes rows from.
  var rows: Int64

  init(_ connection: SQLiteConnection, at now: WallTime) throws {
    integrity = try connection.rows("PRAGMA integrity_check") { $0.text(0) }
    brokenReferences = try connection.rows("PRAGMA foreign_key_check") { _ in 0 }.count
    func count(_ sql: SQL, _ values: SQLiteValue...) throws -> Int64 {
      switch values.first {
      case .some(let value): try connection.first(sql, value) { $0.integer(0) } ?? -1
      case .none: try connection.first(sql) { $0.integer(0) } ?? -1
      }
    }
    orphans = try count(
      """
      SELECT count(*) FROM (
        SELECT msg FROM decision UNION ALL SELECT msg FROM single UNION ALL SELECT msg FROM delivery
        UNION ALL SELECT msg FROM delivery_steps UNION ALL SELECT msg FROM attempt UNION ALL SELECT msg FROM event
        UNION ALL SELECT msg FROM outgoing UNION ALL SELECT msg FROM mark)
      WHERE msg NOT IN (SELECT seq FROM message) AND msg NOT IN (SELECT msg FROM pruning)
      """)
    going = try count("SELECT count(*) FROM pruning")
    livingClaims = try count("SELECT count(*) FROM dedupe WHERE until >= ?", .integer(now.milliseconds))
    overClaims = try count("SELECT count(*) FROM dedupe WHERE until < ?", .integer(now.milliseconds))
    rows = try count(
      """
      SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM decision) + (SELECT count(*) FROM single)
        + (SELECT count(*) FROM delivery) + (SELECT count(*) FROM delivery_steps) + (SELECT count(*) FROM attempt)
        + (SELECT count(*) FROM event) + (SELECT count(*) FROM dedupe) + (SELECT count(*) FROM device)
      """)
  }
}

private final class RetentionKillStage {
  struct Findings: CustomStringConvertible {
    var problems: [String] = []
    var kills = 0
    /// Deaths that left a message of which some rows were gone.
    var killsInMidMessage = 0
    var rowsBefore: Int64 = 0
    var rowsAfter: Int64 = 0

    var description: String {
      "\(kills) kills, \(killsInMidMessage) in mid-message, \(rowsBefore) rows before, \(rowsAfter) after, "
        + "problems: \(problems.prefix(5))"
    }
  }

  private static let user = UserID(rawValue: "u")
  private static let phones = 8
  private static let attempts = 3
  private static let crowds = 7
  private static let crowd = 10
  private static let hour: Int64 = 3_600
  private static let day = 24 * hour

  /// A message to all phones of the user, with three attempts and an opening each: 51 rows and a claim.
  private struct Sending {
    /// Seconds since it was accepted, and since its last outcome.
    var age: Int64
    var ended: Int64
    var claim = Duration.seconds(600)
    var stays: Bool

    static let all =
      (0..<150).map { Sending(age: 31 * day + $0 * 60, ended: 31 * day, stays: false) }
      + (0..<15).map { Sending(age: 30 * day - hour - $0, ended: 30 * day - hour - $0 - 1, stays: true) }
      + (0..<10).map { Sending(age: 40 * day + $0, ended: 29 * day, stays: true) }
      + (0..<5).map { Sending(age: 35 * day + $0, ended: 35 * day, claim: .seconds(40 * day), stays: true) }
  }

  private let folder: TemporaryFolder
  private let standIn: StandInProcess
  private let data: String
  private let masterKey = Randomness.system.fill(32)
  private var generator: SeededGenerator
  private let start = Clock.system.wall()
  private var staying: Set<MessageID> = []
  private var findings = Findings()

  init(seed: UInt64) async throws {
    folder = try TemporaryFolder()
    standIn = try await StandInProcess(in: folder)
    generator = SeededGenerator(seed: seed)
    data = folder.file("data")
    guard mkdir(data, 0o700) == 0 else { throw TestFiles.Failure(description: "cannot make \(data)") }
    try TestFiles.write(Hex.encode(masterKey) + "\n", to: data + "/master.key")
  }

  func run() async throws -> Findings {
    try await fill()
    var before = try await examine()
    findings.rowsBefore = before.rows
    while true {
      let bite = Int.random(in: 1...24, using: &generator)
      let delay = Int.random(in: 0...4_000, using: &generator)
      let server = try ChildProcess(
        try TestFiles.serverUnderTest(), [data, standIn.file, "dies-while-pruning", "\(bite)", "\(delay)"],
        keepsInputOpen: true)
      let isOver = await server.holds("pass over", in: .output)
      server.signal(SIGKILL)
      let result = await server.result()
      try #require(result.code == 128 + Int(SIGKILL), "\(result.output) \(result.errors)")
      if let words = StandInProcess.lastWords(in: result.errors) { findings.problems.append(words) }
      let counts = try await examine()
      if isOver {
        try await conclude(counts)
        break
      }
      findings.kills += 1
      if counts.going > 0 { findings.killsInMidMessage += 1 }
      // The first bite goes on with what an earlier one left of a message, and was committed.
      if bite > 1, before.going > 0, counts.rows >= before.rows { problem("nothing was removed") }
      before = counts
      try #require(findings.kills < 100, "the pass never ends")
    }
    standIn.process.signal(SIGTERM)
    if let words = StandInProcess.lastWords(in: await standIn.process.result().errors) {
      findings.problems.append(words)
    }
    return findings
  }

  // MARK: What there is

  private func open(_ path: String) async throws -> SQLitePushStorage {
    try await SQLitePushStorage.open(path: path, masterKey: masterKey)
  }

  /// Seconds of `StorageStage`'s time, so long ago.
  private func ago(_ seconds: Int64) -> Int64 { start.seconds - StorageStage.start.seconds - seconds }

  private func fill() async throws {
    let storage = try await open(data + "/pabal.sqlite")
    let stage = try await StorageStage(storage)
    var number = UInt8(0)
    func register(_ user: String) async throws {
      number += 1
      try await stage.register(
        user, token: StorageStage.token(number), install: "install-\(number)", at: ago(200 * Self.day))
    }
    for _ in 0..<Self.phones { try await register(Self.user.rawValue) }
    for (name, age) in [("dead", 91 * Self.day), ("resting", 89 * Self.day)] {
      let users = (0..<Self.crowds).map { "\(name)-\($0)" }
      for user in users { for _ in 0..<Self.crowd { try await register(user) } }
      let sent = try await stage.send(to: users, at: ago(age + 1))
      _ = try await storage.recordOutcomes(
        sent.map { delivery in
          stage.outcome(
            of: delivery, status: 410, reason: "Unregistered", since: StorageStage.time(ago(age)), at: ago(age))
        })
    }
    let stays = try await withThrowingTaskGroup(of: MessageID?.self) { group -> Set<MessageID> in
      for (index, sending) in Sending.all.enumerated() {
        let times = (accepted: ago(sending.age), ended: ago(sending.ended))
        group.addTask {
          let message = try await Self.send(sending, "k\(index)", times, to: stage)
          return sending.stays ? message : nil
        }
      }
      return try await group.reduce(into: []) { if let message = $1 { $0.insert(message) } }
    }
    staying = stays
    await storage.close()
  }

  private static func send(
    _ sending: Sending, _ key: String, _ times: (accepted: Int64, ended: Int64), to stage: StorageStage
  ) async throws -> MessageID {
    var acceptance = try await stage.acceptance(to: [user.rawValue], dedupe: key, at: times.accepted)
    acceptance.dedupe?.window = sending.claim
    guard case .accepted(let outgoing) = try await stage.storage.accept(acceptance) else {
      throw TestFiles.Failure(description: "not accepted")
    }
    let outcomes = outgoing.map { delivery in
      // The last one makes the difference.
      let isLast = delivery.key == outgoing.last?.key
      var outcome = stage.outcome(of: delivery, status: 200, at: isLast ? times.ended : times.accepted)
      outcome.attempts = outcome.attempts.flatMap { attempt in
        (1...attempts).map { number in
          var attempt = attempt
          attempt.number = number
          return attempt
        }
      }
      return outcome
    }
    _ = try await stage.storage.recordOutcomes(outcomes)
    _ = try await stage.storage.recordEvents(outgoing.map { stage.opened($0, at: times.accepted) })
    return acceptance.identity.id
  }

  // MARK: What was left

  /// Looks at a copy: the next server is to find the files as the last one left them.
  private func examine() async throws -> TableCounts {
    let copy = try TemporaryFolder()
    let path = copy.file("pabal.sqlite")
    for end in ["", "-wal"] where access(data + "/pabal.sqlite" + end, F_OK) == 0 {
      try TestFiles.write(try TestFiles.read(data + "/pabal.sqlite" + end), to: path + end)
    }
    let now = Clock.system.wall()
    let database = try await SQLiteDatabase.open(path: path, readers: 1) { _ in }
    let counts = try await database.read { try TableCounts($0, at: now) }
    await database.close()
    if counts.integrity != ["ok"] { problem("integrity \(counts.integrity.prefix(3))") }
    if counts.brokenReferences > 0 { problem("\(counts.brokenReferences) broken references") }
    if counts.orphans > 0 { problem("\(counts.orphans) rows of no message") }
    if counts.going > 1 { problem("\(counts.going) messages are half removed") }
    let living = Int64(Sending.all.count { $0.claim > .seconds(30 * Self.day) })
    if counts.livingClaims != living { problem("\(counts.livingClaims) of \(living) living claims") }
    let storage = try await open(path)
    try await compare(storage)
    await storage.close()
    withExtendedLifetime(copy) {}
    return counts
  }

  /// A message is there with all that belongs to it, or not at all; what is young is there.
  private func compare(_ storage: SQLitePushStorage) async throws {
    let appMode = try await storage.openApp(named: "demo", mode: .test)
    let list = try await Self.all(\MessageSummary.identity.id) { page in
      try await storage.messages(to: Self.user, in: appMode, page: page)
    }
    let missing = staying.subtracting(list.map(\.identity.id))
    if !missing.isEmpty { problem("\(missing.count) young messages are lost") }
    let isWhole = list.allSatisfy { $0.decisions == [nil: 1] && $0.counts == [.accepted: Self.phones] }
    if !isWhole { problem("a message is there in part") }
    let deliveries = try await Self.all(\DeliveryRecord.id) { page in
      try await storage.deliveries(to: Self.user, in: appMode, page: page)
    }
    if deliveries.count != list.count * Self.phones { problem("\(deliveries.count) deliveries") }
    let areWhole = deliveries.allSatisfy { delivery in
      delivery.attempts.map(\.number) == Array(1...Self.attempts) && delivery.events.map(\.text) == ["네"]
    }
    if !areWhole { problem("a delivery is there in part") }
    let phones = try await storage.devices(of: Self.user, in: appMode)
    if phones.count(where: { $0.status == .active && $0.token != nil }) != Self.phones { problem("a phone is lost") }
    for crowd in 0..<Self.crowds {
      let resting = try await storage.devices(of: UserID(rawValue: "resting-\(crowd)"), in: appMode)
      let isThere = resting.allSatisfy { $0.status == .inactive && $0.token != nil && $0.install != nil }
      if resting.count != Self.crowd || !isThere { problem("a device that rests is lost") }
    }
  }

  /// By pages: how long one read may last is limited.
  private static func all<Member, ID>(
    _ id: (Member) -> ID, _ read: (ListPage<ID>) async throws -> [Member]
  ) async throws -> [Member] {
    var members: [Member] = []
    while true {
      let page = try await read(ListPage(after: members.last.map(id), limit: 50))
      guard !page.isEmpty else { return members }
      members += page
    }
  }

  private func conclude(_ counts: TableCounts) async throws {
    findings.rowsAfter = counts.rows
    if counts.going + counts.overClaims > 0 { problem("the last pass left \(counts.going), \(counts.overClaims)") }
    let storage = try await open(data + "/pabal.sqlite")
    let appMode = try await storage.openApp(named: "demo", mode: .test)
    let all = try await storage.counts(in: appMode)
    if all.messages != staying.count { problem("\(all.messages) messages are left, not \(staying.count)") }
    if all.deliveries != [.accepted: staying.count * Self.phones] { problem("\(all.deliveries) deliveries are left") }
    if all.inactiveDevices != Self.crowds * Self.crowd { problem("\(all.inactiveDevices) devices rest") }
    await storage.close()
  }

  private func problem(_ words: String) { findings.problems.append("after \(findings.kills) kills: \(words)") }
}
