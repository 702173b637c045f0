import PabalModel
import PabalPrimitives
import SQLiteDriver
import SQLiteStorage
import Storage
import Testing

/// A file of an earlier program, opened by this one. A file that is too new is the subject of `MasterKeyTests`.
@Suite struct MigrationTests {
  private static let app = "demo"
  private static let user = UserID(rawValue: "u")
  private static let waiting = UserID(rawValue: "w")
  private static let payload = Array(#"{"aps":{"alert":"기다림"}}"#.utf8)

  @Test("a file of schema 3 is opened: all its rows are there, and what was inactive counts from that moment on")
  func fromThree() async throws {
    try await withStoreFile { source in
      let today = try await SQLitePushStorage.open(path: source, masterKey: Example.masterKey)
      let (appMode, ended) = try await Self.fill(today)
      let written = try await Reading(of: today, in: appMode)
      await today.close()
      try await withStoreFile { path in
        try await Self.write(source, asSchema3: path)
        #expect(try await Self.schema(of: path) == Schemata(versions: [1, 2, 3], inactiveColumns: 0))

        let before = Clock.system.wall()
        let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
        let newest = try #require(Schema.migrations.last?.version)
        #expect(try await Self.schema(of: path) == Schemata(versions: Array(1...newest), inactiveColumns: 1))
        #expect(try await storage.openApp(named: Self.app, mode: .test) == appMode)
        #expect(try await Reading(of: storage, in: appMode) == written)
        let inactive = try await storage.devices(of: Self.user, in: appMode).map(\.inactiveSince)
        #expect(inactive.map { $0 == nil } == [true, false])
        let since = try #require(inactive.last ?? nil)
        // SQLite counts this in whole seconds.
        #expect(since.seconds >= before.seconds && since <= Clock.system.wall())

        try await Self.goOn(with: storage, in: appMode, after: ended)
        try await Self.prune(storage, in: appMode, inactiveSince: since)
        await storage.close()
      }
    }
  }

  // MARK: What was written

  /// A message that has ended, with reports and a living claim; one that is under way; one that waits.
  private static func fill(_ storage: SQLitePushStorage) async throws -> (AppMode, MessageAcceptance) {
    let appMode = try await storage.openApp(named: app, mode: .test)
    for number in UInt8(1)...3 {
      let token = try #require(DeviceToken(bytes: [UInt8](repeating: number, count: 32)))
      let owner = number < 3 ? user : waiting
      _ = try await storage.register(
        Example.registration(owner.rawValue, token: token, in: appMode, install: "install-\(number)"))
    }
    _ = try await storage.setPreferences(
      PreferenceChange(appMode: appMode, user: user, values: ["chat": false], at: Example.now))
    let ended = try await Example.acceptance(
      to: user.rawValue, in: appMode, of: storage, content: Array(#"{"text":"안녕"}"#.utf8), dedupe: "k")
    guard case .accepted(let outgoing) = try await storage.accept(ended) else {
      Issue.record("not accepted")
      return (appMode, ended)
    }
    _ = try await storage.recordOutcomes(
      zip(outgoing, [200, 410]).map { delivery, status in
        let attempt = AttemptRecord(
          number: 1, startedAt: Example.now.advanced(by: .seconds(1)), duration: .milliseconds(38),
          environment: .sandbox, status: status, reason: status == 410 ? "Unregistered" : nil, tokenDeadSince: nil,
          apnsID: delivery.apnsID, apnsUniqueID: nil, connection: "c1")
        return DeliveryOutcome(
          key: delivery.key, state: status == 200 ? .accepted : .rejected,
          reason: status == 200 ? nil : .apns("Unregistered"), at: Example.now.advanced(by: .seconds(1)),
          token: delivery.token, attempts: [attempt])
      })
    let opened = try #require(outgoing.first)
    _ = try await storage.recordEvents(
      [EventKind.action, .converted].map { kind in
        DeviceEvent(
          appMode: appMode, delivery: opened.id, message: opened.messageID, kind: kind, at: Example.now,
          action: kind == .action ? "REPLY" : nil, text: kind == .action ? "네" : nil,
          name: kind == .converted ? "purchase" : nil, value: kind == .converted ? "19900" : nil, eventID: "e",
          receivedAt: Example.now.advanced(by: .seconds(2)))
      })
    for start in [MessageAcceptance.Start.marked, .queued] {
      let acceptance = try await Example.acceptance(
        to: waiting.rawValue, in: appMode, of: storage, payload: payload, start: start)
      _ = try await storage.accept(acceptance)
    }
    return (appMode, ended)
  }

  /// The same rows in a file that has gone through the first three steps only: what a server of then would have left.
  private static func write(_ source: String, asSchema3 path: String) async throws {
    let database = try await SQLiteDatabase.open(path: path, readers: 0) { connection in
      try connection.migrate(through: Schema.migrations.filter { $0.version <= 3 }, at: Example.now)
      try connection.run("ATTACH ? AS today", .text(source))
      try connection.transaction { for copy in copies { try connection.run(copy) } }
    }
    await database.close()
  }

  private static let copies: [SQL] = [
    "INSERT INTO main.meta SELECT * FROM today.meta", "INSERT INTO main.app SELECT * FROM today.app",
    "INSERT INTO main.user SELECT * FROM today.user", "INSERT INTO main.preference SELECT * FROM today.preference",
    """
    INSERT INTO main.device
    SELECT am, user, dev, provider, kind, platform, topic, status, reason, created, locale, zone, app, os, model,
      permission, lockScreen, sdk, serviceExtension, contentExtension, token, bidx
    FROM today.device
    """,
    "INSERT INTO main.device_seen SELECT * FROM today.device_seen",
    "INSERT INTO main.install SELECT * FROM today.install", "INSERT INTO main.change SELECT * FROM today.change",
    "INSERT INTO main.message SELECT * FROM today.message", "INSERT INTO main.decision SELECT * FROM today.decision",
    "INSERT INTO main.single SELECT * FROM today.single", "INSERT INTO main.delivery SELECT * FROM today.delivery",
    "INSERT INTO main.delivery_steps SELECT * FROM today.delivery_steps",
    "INSERT INTO main.outgoing SELECT * FROM today.outgoing", "INSERT INTO main.mark SELECT * FROM today.mark",
    "INSERT INTO main.attempt SELECT * FROM today.attempt", "INSERT INTO main.dedupe SELECT * FROM today.dedupe",
    "INSERT INTO main.event SELECT * FROM today.event",
  ]

  // MARK: What is read

  private struct Schemata: Equatable {
    var versions: [Int64]
    var inactiveColumns: Int64
  }

  private static func schema(of path: String) async throws -> Schemata {
    let schemata = try await SQLiteDatabase.inspect(path: path) { connection in
      Schemata(
        versions: try connection.rows("SELECT version FROM migration ORDER BY version") { $0.integer(0) },
        inactiveColumns: try connection.first(
          "SELECT count(*) FROM pragma_table_info('device') WHERE name = 'inactive'"
        ) { $0.integer(0) } ?? -1)
    }
    return try #require(schemata)
  }

  /// All that the store's reads say, but since when a device is inactive.
  private struct Reading: Equatable {
    var devices: [[String?]] = []
    var preferences: [PreferenceSet] = []
    var lists: [[MessageSummary]] = []
    var contents: [[UInt8]] = []
    var steps: [[String]] = []
    var deliveries: [[String?]] = []
    var attempts: [[AttemptRecord]] = []
    var events: [[EventRecord]] = []
    var marks: [DeliveryKey] = []
    var counts: StorageCounts
    var deviceCounts: Set<DeviceCount>

    init(of storage: SQLitePushStorage, in appMode: AppMode) async throws {
      counts = try await storage.counts(in: appMode)
      deviceCounts = Set(try await storage.deviceCounts(in: appMode))
      marks = try await storage.openMarks().map(\.key)
      for user in [user, waiting] {
        for device in try await storage.devices(of: user, in: appMode) {
          devices.append([
            device.id.rawValue, device.user?.rawValue, device.install?.rawValue, device.token?.hex,
            device.topic?.rawValue, device.environment?.rawValue, device.status.rawValue,
            device.inactiveReason?.rawValue, device.createdAt.rfc3339, device.registeredAt.rfc3339,
          ])
        }
        preferences.append(try await storage.preferences(of: user, in: appMode))
        let list = try await storage.messages(to: user, in: appMode, limit: 10)
        lists.append(list)
        for shown in list { try await read(shown.identity.id, to: user, of: storage, in: appMode) }
      }
    }

    private mutating func read(
      _ message: MessageID, to user: UserID, of storage: SQLitePushStorage, in appMode: AppMode
    ) async throws {
      let explanation = try #require(try await storage.explanation(of: message, for: user, in: appMode))
      contents.append(explanation.message.content)
      for trace in explanation.traces {
        let delivery = trace.delivery
        steps.append(trace.steps.map { "\($0.at.rfc3339) \($0.step) \($0.result.rawValue) \($0.detail.encodedText)" })
        deliveries.append([
          delivery.id.rawValue, delivery.device.rawValue, delivery.state.rawValue, delivery.reason?.rawValue,
          delivery.createdAt.rfc3339, delivery.updatedAt.rfc3339,
        ])
        attempts.append(delivery.attempts)
        events.append(delivery.events)
      }
    }
  }

  /// The claim still holds, what waits is sent, and numbers go on.
  private static func goOn(
    with storage: SQLitePushStorage, in appMode: AppMode, after ended: MessageAcceptance
  ) async throws {
    let again = try await Example.acceptance(to: user.rawValue, in: appMode, of: storage, dedupe: "k")
    #expect(again.identity.number > ended.identity.number)
    guard case .duplicate(let claims) = try await storage.accept(again) else {
      Issue.record("the claim was lost")
      return
    }
    #expect(claims.map(\.heldBy) == [ended.identity.id])
    let claimed = try await storage.claimQueued(limit: 10, at: Example.now).deliveries
    #expect(claimed.map(\.push.payload) == [payload])
  }

  private static func prune(
    _ storage: SQLitePushStorage, in appMode: AppMode, inactiveSince since: WallTime
  ) async throws {
    func pass(at now: WallTime) async throws -> (messages: Int, devices: Int) {
      var place: PrunePlace? = .start
      var gone = (messages: 0, devices: 0)
      while let start = place {
        let step = try await storage.prune(from: start, limit: 64, at: now)
        gone = (gone.messages + step.messages, gone.devices + step.devices)
        place = step.next
      }
      return gone
    }
    let end = since.advanced(by: Retention.inactiveDevice)
    #expect(try await pass(at: end.advanced(by: .milliseconds(-1))).devices == 0)
    #expect(try await pass(at: end).devices == 1)
    #expect(try await storage.devices(of: user, in: appMode).map(\.status) == [.active])
    _ = try await pass(at: max(end, Example.now.advanced(by: .seconds(400 * 86_400))))
    #expect(try await storage.messages(to: user, in: appMode, limit: 10).isEmpty, "what has ended goes")
    #expect(try await storage.messages(to: waiting, in: appMode, limit: 10).count == 2, "what is under way stays")
  }
}
