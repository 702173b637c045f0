import Cryptography
package import PabalModel
package import PabalPrimitives
import SQLiteDriver
package import Storage

/// The truth on disk: one SQLite file, tokens and texts sealed under keys derived from the master key.
package final class SQLitePushStorage: PushStorage {
  private let database: SQLiteDatabase
  private let keys: StorageKeys
  private let lastMessage: Locked<Int64>

  private init(database: SQLiteDatabase, keys: StorageKeys, lastMessage: Int64) {
    self.database = database
    self.keys = keys
    self.lastMessage = Locked(lastMessage)
  }

  /// Opens the file, making it if it is missing, and brings its schema to this program's.
  ///
  /// - Parameters:
  ///   - masterKey: 32 bytes. The wrong one is refused before anything is written.
  ///   - readers: connections that read, each with a thread of its own.
  ///   - onRead: called before each query of a read; for whoever counts them.
  /// - Throws: `wrongMasterKey`, `newerSchema`, `unavailable`, `corrupt`.
  package static func open(
    path: String, masterKey: [UInt8], readers: Int = 2, clock: Clock = .system,
    onRead: (@Sendable () -> Void)? = nil
  ) async throws(StorageError) -> SQLitePushStorage {
    try await translating {
      guard masterKey.count == AES256GCM.keyByteCount else {
        throw StorageError(.wrongMasterKey, "A master key has \(AES256GCM.keyByteCount) bytes.")
      }
      _ = try await SQLiteDatabase.inspect(path: path) { connection in
        _ = try MasterKeyCheck.keys(for: masterKey, in: connection)
      }
      let made = Locked<(StorageKeys, Int64)?>(nil)
      let database = try await SQLiteDatabase.open(path: path, readers: readers, onRead: onRead) { connection in
        try connection.migrate(through: Schema.migrations, at: clock.wall())
        let keys = try MasterKeyCheck.keysMakingSalt(for: masterKey, in: connection)
        let last =
          try connection.first(
            """
            SELECT max(
              (SELECT coalesce(max(seq), 0) FROM message),
              coalesce((SELECT value FROM meta WHERE key = 'lastMessage'), 0))
            """
          ) { $0.integer(0) } ?? 0
        made.withLock { $0 = (keys, last) }
      }
      guard let (keys, last) = made.withLock({ $0 }) else {
        throw StorageError(.unavailable, "The database was opened without its keys.")
      }
      return SQLitePushStorage(database: database, keys: keys, lastMessage: last)
    }
  }

  /// Finishes what was asked for, empties the log and closes the file.
  package func close() async {
    await database.close()
  }

  private func write<Value: Sendable>(
    _ body: @escaping @Sendable (StorageSession) throws -> Value
  ) async throws(StorageError) -> Value {
    let keys = keys
    return try await translating {
      try await self.database.write { try body(StorageSession(connection: $0, keys: keys)) }
    }
  }

  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (StorageSession) throws -> Value
  ) async throws(StorageError) -> Value {
    let keys = keys
    return try await translating {
      try await self.database.read { try body(StorageSession(connection: $0, keys: keys)) }
    }
  }

  package func openApp(named name: String, mode: PushMode) async throws(StorageError) -> AppMode {
    try await write { session in
      guard (1...64).contains(name.utf8.count) else {
        throw StorageError(.invalidCall, "An app's name has 1 to 64 bytes.")
      }
      try session.connection.run("INSERT INTO app (name) VALUES (?) ON CONFLICT DO NOTHING", .text(name))
      let number = try session.connection.first("SELECT number FROM app WHERE name = ?", .text(name)) { $0.integer(0) }
      return AppMode(app: number ?? 0, mode: mode)
    }
  }

  package func register(_ registration: DeviceRegistration) async throws(StorageError) -> RegistrationResult {
    try await write { session in
      let secret = Base64URL.encode(try SecureRandom.bytes(32))
      return try session.register(registration, freshSecret: secret)
    }
  }

  package func unregister(_ request: DeviceUnregistration) async throws(StorageError) -> UnregistrationResult {
    try await write { try $0.unregister(request) }
  }

  package func signOut(_ request: InstallSignOut) async throws(StorageError) -> SignOutResult {
    try await write { try $0.signOut(request) }
  }

  package func release(
    _ device: DeviceID, in appMode: AppMode, at now: WallTime
  ) async throws(StorageError) -> DeviceRecord? {
    try await write { try $0.release(device, in: appMode, at: now) }
  }

  package func device(_ id: DeviceID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await read { session in
      try session.keys.number(of: id, appMode: appMode).flatMap { try session.device($0, in: appMode) }
    }
  }

  package func device(of install: InstallID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await read { session in
      try session.deviceNumber(of: install, in: appMode).flatMap { try session.device($0, in: appMode) }
    }
  }

  package func devices(of user: UserID, in appMode: AppMode) async throws(StorageError) -> [DeviceRecord] {
    try await read { session in
      try session.userNumber(user, in: appMode).map { try session.devices(of: $0, in: appMode) } ?? []
    }
  }

  package func activeDevices(
    in appMode: AppMode, after: DeviceNumber?, limit: Int
  ) async throws(StorageError) -> [DeviceRecord] {
    try await read { try $0.activeDevices(in: appMode, after: after, limit: limit) }
  }

  package func preferences(of user: UserID, in appMode: AppMode) async throws(StorageError) -> PreferenceSet {
    try await read { session in
      try session.userNumber(user, in: appMode).map { try session.preferences(of: $0, in: appMode) } ?? PreferenceSet()
    }
  }

  package func setPreferences(_ change: PreferenceChange) async throws(StorageError) -> PreferenceSet {
    try await write { try $0.setPreferences(change) }
  }

  package func snapshot(of users: [UserID], in appMode: AppMode) async throws(StorageError) -> AudienceSnapshot {
    try await read { try $0.snapshot(of: users, in: appMode) }
  }

  package func reserveMessage(at now: WallTime) -> MessageIdentity {
    let number = lastMessage.withLock { last in
      last += 1
      return last
    }
    let id = OpaqueID.timeOrdered(milliseconds: now.milliseconds, chance: Randomness.system.fill(10))
    return MessageIdentity(
      number: MessageNumber(rawValue: number), id: MessageID(rawValue: id.text(prefix: "msg_")))
  }

  package func deliveryID(for key: DeliveryKey) -> DeliveryID {
    do {
      return try keys.deliveryID(for: key)
    } catch {
      preconditionFailure("AES over one block fails only when memory is exhausted")
    }
  }

  package func accept(_ acceptance: MessageAcceptance) async throws(StorageError) -> AcceptanceResult {
    try await write { try $0.accept(acceptance) }
  }

  package func claimQueued(limit: Int, at now: WallTime) async throws(StorageError) -> QueueClaim {
    try await write { try $0.claimQueued(limit: limit, at: now) }
  }

  package func openMarks() async throws(StorageError) -> [OpenMark] {
    try await read { try $0.openMarks() }
  }

  package func recordOutcomes(_ outcomes: [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult] {
    try await write { try $0.recordOutcomes(outcomes) }
  }

  package func recordEvents(_ events: [DeviceEvent]) async throws(StorageError) -> [EventResult] {
    try await write { try $0.recordEvents(events) }
  }

  package func message(_ id: MessageID, in appMode: AppMode) async throws(StorageError) -> MessageRecord? {
    try await read { try $0.message(id, in: appMode) }
  }

  package func deliveries(
    of message: MessageID, to user: UserID?, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await read { try $0.deliveries(of: message, to: user, in: appMode, page: page) }
  }

  package func deliveries(
    to user: UserID, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await read { try $0.deliveries(to: user, in: appMode, page: page) }
  }

  package func trace(of delivery: DeliveryID, in appMode: AppMode) async throws(StorageError) -> DeliveryTrace? {
    try await read { try $0.trace(of: delivery, in: appMode) }
  }

  package func explanation(
    of message: MessageID, for user: UserID, in appMode: AppMode
  ) async throws(StorageError) -> UserExplanation? {
    try await read { try $0.explanation(of: message, for: user, in: appMode) }
  }

  package func messages(
    to user: UserID, in appMode: AppMode, page: ListPage<MessageID>
  ) async throws(StorageError) -> [MessageSummary] {
    try await read { try $0.messages(to: user, in: appMode, page: page) }
  }

  package func newestMessage(
    of type: String, to user: UserID, among: Int, in appMode: AppMode
  ) async throws(StorageError) -> MessageIdentity? {
    try await read { try $0.newestMessage(of: type, to: user, among: among, in: appMode) }
  }

  package func prune(from place: PrunePlace, limit: Int, at now: WallTime) async throws(StorageError) -> PruneStep {
    try await write { try $0.prune(from: place, limit: limit, at: now) }
  }

  package func deviceCounts(in appMode: AppMode) async throws(StorageError) -> [DeviceCount] {
    try await read { try $0.deviceCounts(in: appMode) }
  }

  package func counts(in appMode: AppMode) async throws(StorageError) -> StorageCounts {
    try await read { try $0.counts(in: appMode) }
  }
}
