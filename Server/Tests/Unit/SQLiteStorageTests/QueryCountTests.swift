import PabalModel
import PabalPrimitives
import SQLiteStorage
import Storage
import Testing

@Suite struct QueryCountTests {
  /// Queries that each read takes, for a user with so many phones.
  private static func queries(phones: UInt8) async throws -> [Int] {
    let counted = Locked(0)
    var queries: [Int] = []
    try await withStoreFile { path in
      let storage = try await SQLitePushStorage.open(
        path: path, masterKey: Example.masterKey, onRead: { counted.withLock { $0 += 1 } })
      let appMode = try await storage.openApp(named: "demo", mode: .test)
      let user = UserID(rawValue: "u")
      for number in 1...phones {
        let token = try #require(DeviceToken(bytes: [UInt8](repeating: number, count: 32)))
        _ = try await storage.register(Example.registration("u", token: token, in: appMode))
      }
      var last: MessageIdentity?
      for _ in 0..<phones {
        let acceptance = try await Example.acceptance(to: "u", in: appMode, of: storage)
        guard case .accepted(let outgoing) = try await storage.accept(acceptance) else { return }
        _ = try await storage.recordOutcomes(
          outgoing.map { delivery in
            let attempts = (1...3).map { number in
              AttemptRecord(
                number: number, startedAt: Example.now, duration: .zero, environment: .sandbox, status: 503,
                reason: nil, tokenDeadSince: nil, apnsID: nil, apnsUniqueID: nil, connection: "c\(number)")
            }
            return DeliveryOutcome(
              key: delivery.key, state: .rejected, reason: .retriesExhausted, at: Example.now, token: delivery.token,
              attempts: attempts)
          })
        last = acceptance.identity
      }
      let message = try #require(last)
      func count(_ body: () async throws -> Int) async throws {
        counted.withLock { $0 = 0 }
        #expect(try await body() == Int(phones))
        queries.append(counted.withLock { $0 })
      }
      try await count {
        let explained = try await storage.explanation(of: message.id, for: user, in: appMode)
        #expect(explained?.traces.allSatisfy { $0.delivery.attempts.map(\.number) == [1, 2, 3] } == true)
        return explained?.traces.count ?? 0
      }
      try await count { try await storage.deliveries(of: message.id, in: appMode).count }
      try await count { try await storage.deliveries(to: user, in: appMode, limit: Int(phones)).count }
      try await count { try await storage.messages(to: user, in: appMode, limit: Int(phones)).count }
      try await count {
        let page = ListPage(after: message.id, limit: Int(phones))
        return try await storage.messages(to: user, in: appMode, page: page).count + 1
      }
      try await count {
        let found = try await storage.newestMessage(of: "hello", to: user, among: 50, in: appMode)
        return found == message ? Int(phones) : 0
      }
      await storage.close()
    }
    return queries
  }

  @Test("an explanation, a list of deliveries or messages and the newest message of a type: a fixed number of queries")
  func fixed() async throws {
    let few = try await Self.queries(phones: 2)
    #expect(few.count == 6)
    #expect(try await Self.queries(phones: 30) == few)
  }
}
