import PabalModel
import PabalPrimitives
import SQLiteDriver
import SQLiteStorage
import Storage
import Testing

@Suite struct RetentionTests {
  private static let later = Example.now.advanced(by: .seconds(100 * 86_400))

  /// A message to 20 phones of a user, ended and opened: some 80 rows.
  private func sentAndOpened(in appMode: AppMode, of storage: SQLitePushStorage) async throws -> MessageAcceptance {
    for number in UInt8(1)...20 {
      let token = try #require(DeviceToken(bytes: [UInt8](repeating: number, count: 32)))
      _ = try await storage.register(Example.registration("u", token: token, in: appMode))
    }
    let acceptance = try await Example.acceptance(to: "u", in: appMode, of: storage, dedupe: "k")
    guard case .accepted(let outgoing) = try await storage.accept(acceptance) else { return acceptance }
    _ = try await storage.recordOutcomes(
      outgoing.map { delivery in
        let attempt = AttemptRecord(
          number: 1, startedAt: Example.now, duration: .zero, environment: .sandbox, status: 200, reason: nil,
          tokenDeadSince: nil, apnsID: delivery.apnsID, apnsUniqueID: nil, connection: "c1")
        return DeliveryOutcome(
          key: delivery.key, state: .accepted, reason: nil, at: Example.now, token: delivery.token,
          attempts: [attempt])
      })
    _ = try await storage.recordEvents(
      outgoing.map { delivery in
        DeviceEvent(
          appMode: appMode, delivery: delivery.id, message: delivery.messageID, kind: .action, at: Example.now,
          action: "REPLY", text: "네", eventID: "e", receivedAt: Example.now)
      })
    return acceptance
  }

  /// Rows of message, decision, single, delivery, delivery_steps, attempt, event, dedupe, pruning, mark and outgoing.
  private static func rows(in path: String) async throws -> [Int64] {
    let rows = try await SQLiteDatabase.inspect(path: path) { connection in
      try connection.first(
        """
        SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM decision), (SELECT count(*) FROM single),
          (SELECT count(*) FROM delivery), (SELECT count(*) FROM delivery_steps), (SELECT count(*) FROM attempt),
          (SELECT count(*) FROM event), (SELECT count(*) FROM dedupe), (SELECT count(*) FROM pruning),
          (SELECT count(*) FROM mark), (SELECT count(*) FROM outgoing)
        """
      ) { row in (Int32(0)..<11).map { row.integer($0) } }
    }
    return try #require(rows ?? nil)
  }

  @Test("a message is unseen from the first bite on; a process that ends in the middle leaves the rest to the next")
  func bites() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let message = try await sentAndOpened(in: appMode, of: storage)
      #expect(try await Self.rows(in: path) == [1, 1, 1, 20, 20, 20, 20, 1, 0, 0, 0])
      let step = try await storage.prune(from: .start, limit: 7, at: Self.later)
      #expect(step.messages == 1)
      #expect(try await storage.message(message.identity.id, in: appMode) == nil)
      #expect(try await storage.deliveries(to: UserID(rawValue: "u"), in: appMode, limit: 50).isEmpty)
      #expect(try await Self.rows(in: path) == [0, 1, 1, 20, 20, 20, 14, 1, 1, 0, 0])
      await storage.close()

      let again = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      var place: PrunePlace? = .start
      var before = try await Self.rows(in: path)
      while let start = place {
        place = try await again.prune(from: start, limit: 7, at: Self.later).next
        let now = try await Self.rows(in: path)
        #expect(zip(before, now).map { $0 - $1 }.reduce(0, +) <= 9, "a bite is small")
        before = now
      }
      #expect(before == [Int64](repeating: 0, count: 11))
      await again.close()
    }
  }

  @Test("the number of a message that went is never given again: ids and apns-ids are computed from it")
  func numbersAreNotGivenAgain() async throws {
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let message = try await sentAndOpened(in: appMode, of: storage)
      var place: PrunePlace? = .start
      while let start = place { place = try await storage.prune(from: start, limit: 64, at: Self.later).next }
      await storage.close()
      let again = try await SQLitePushStorage.open(path: path, masterKey: Example.masterKey)
      #expect(again.reserveMessage(at: Self.later).number > message.identity.number)
      await again.close()
    }
  }
}
