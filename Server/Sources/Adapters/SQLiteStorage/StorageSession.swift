import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

/// One call's view of the database: a connection inside a transaction, and the keys. The verbs stand in extensions.
struct StorageSession {
  let connection: SQLiteConnection
  let keys: StorageKeys

  // MARK: Users

  func userNumber(_ user: UserID, in appMode: AppMode) throws -> UserNumber? {
    try connection.first(
      "SELECT seq FROM user WHERE am = ? AND id = ?", .integer(appMode.rawValue), .text(user.rawValue)
    ) { UserNumber(rawValue: $0.integer(0)) }
  }

  /// Gives the user a number at first sight.
  func seeUser(_ user: UserID, in appMode: AppMode) throws -> UserNumber {
    guard user.rawValue.utf8.count <= StorageLimits.userIDBytes else {
      throw StorageError(.invalidCall, "A user id has at most \(StorageLimits.userIDBytes) bytes.")
    }
    if let number = try userNumber(user, in: appMode) { return number }
    try connection.run(
      "INSERT INTO user (am, id) VALUES (?, ?)", .integer(appMode.rawValue), .text(user.rawValue))
    return UserNumber(rawValue: connection.lastInsertedRow)
  }

  func owner(_ user: UserID?, in appMode: AppMode) throws -> UserNumber {
    guard let user else { return .nobody }
    return try seeUser(user, in: appMode)
  }

  // MARK: Changes

  /// How long a decision may take; older changes are forgotten, and a decision that old is stale.
  private static let changeLifeMilliseconds: Int64 = 3_600_000
  /// Forgetting is done once in so many changes.
  private static let changesBetweenPrunes: Int64 = 256

  func noteChange(of user: UserNumber, in appMode: AppMode, at now: WallTime) throws {
    guard user != .nobody else { return }
    try connection.run(
      "INSERT INTO change (am, user, at) VALUES (?, ?, ?)", .integer(appMode.rawValue), .integer(user.rawValue),
      .integer(now.milliseconds))
    let newest = connection.lastInsertedRow
    guard newest % Self.changesBetweenPrunes == 0 else { return }
    try connection.run(
      "DELETE FROM change WHERE at < ? AND seq < ?", .integer(now.milliseconds - Self.changeLifeMilliseconds),
      .integer(newest))
  }

  func newestChange() throws -> ChangeSequence {
    ChangeSequence(rawValue: try connection.first("SELECT max(seq) FROM change") { $0.integer(0) } ?? 0)
  }

  /// Whether something that concerns one of `users` changed after `seen`, or may have.
  func isStale(_ users: Set<UserNumber>, in appMode: AppMode, since seen: ChangeSequence) throws -> Bool {
    guard try newestChange() > seen else { return false }
    let oldest = try connection.first("SELECT min(seq) FROM change") { $0.integer(0) } ?? 0
    if oldest > seen.rawValue + 1 { return true }
    let changed = try connection.rows(
      "SELECT DISTINCT user FROM change WHERE seq > ? AND am = ?", .integer(seen.rawValue),
      .integer(appMode.rawValue)
    ) { UserNumber(rawValue: $0.integer(0)) }
    return changed.contains { users.contains($0) }
  }

  // MARK: Devices

  func device(_ number: DeviceNumber, in appMode: AppMode) throws -> DeviceRecord? {
    try connection.first(
      "SELECT * FROM device_row WHERE am = ? AND dev = ?", .integer(appMode.rawValue), .integer(number.rawValue),
      as: deviceRecord)
  }

  func devices(of user: UserNumber, in appMode: AppMode) throws -> [DeviceRecord] {
    try connection.rows(
      """
      SELECT r.* FROM device d JOIN device_row r ON r.am = d.am AND r.dev = d.dev
      WHERE d.am = ? AND d.user = ? ORDER BY d.dev
      """, .integer(appMode.rawValue), .integer(user.rawValue), as: deviceRecord)
  }

  func deviceNumber(of install: InstallID, in appMode: AppMode) throws -> DeviceNumber? {
    try connection.first(
      "SELECT dev FROM install WHERE am = ? AND id = ?", .integer(appMode.rawValue), .text(install.rawValue)
    ) { DeviceNumber(rawValue: $0.integer(0)) }
  }

  func deviceNumber(holding token: DeviceToken, in appMode: AppMode) throws -> DeviceNumber? {
    try connection.first(
      "SELECT dev FROM device WHERE am = ? AND provider = 'apns' AND kind = 'alert' AND bidx = ?",
      .integer(appMode.rawValue), .blob(try keys.blindIndex(of: token, appMode: appMode))
    ) { DeviceNumber(rawValue: $0.integer(0)) }
  }

  /// Reads a row of the view `device_row`.
  func deviceRecord(_ row: SQLiteRow) throws -> DeviceRecord {
    let appMode = AppMode(rawValue: row.integer(0))
    let number = DeviceNumber(rawValue: row.integer(1))
    let token = try row.optionalBlob(18).map { box in
      guard let token = DeviceToken(bytes: try keys.open(box, at: StorageKeys.Seat(token: number))) else {
        throw StorageError(.corrupt, "A stored token cannot be read.")
      }
      return token
    }
    let attributes = DeviceAttributes(
      appVersion: row.optionalText(10), osVersion: row.optionalText(11), model: row.optionalText(12),
      locale: row.optionalText(8), timeZone: row.optionalText(9), permission: row.optionalText(13),
      lockScreen: row.optionalInteger(14).map { $0 != 0 }, sdkVersion: row.optionalText(15),
      hasServiceExtension: row.optionalInteger(16).map { $0 != 0 },
      hasContentExtension: row.optionalInteger(17).map { $0 != 0 })
    return DeviceRecord(
      number: number, id: try keys.deviceID(for: number, appMode: appMode),
      user: row.optionalText(2).map(UserID.init(rawValue:)),
      install: row.optionalText(22).map(InstallID.init(rawValue:)), epoch: row.integer(23), token: token,
      platform: Platform(rawValue: row.text(3)), topic: row.optionalText(4).map(Topic.init(rawValue:)),
      environment: row.optionalText(20).flatMap(PushEnvironment.init(rawValue:)),
      environmentIsLearned: row.integer(21) != 0, status: row.integer(5) == 1 ? .active : .inactive,
      inactiveReason: row.optionalText(6).map(ReasonCode.init(rawValue:)), attributes: attributes,
      createdAt: WallTime(milliseconds: row.integer(7)), registeredAt: WallTime(milliseconds: row.integer(19)),
      inactiveSince: row.optionalInteger(25).map { WallTime(milliseconds: $0) })
  }
}
