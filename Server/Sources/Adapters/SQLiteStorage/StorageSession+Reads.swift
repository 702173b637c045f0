import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func message(_ id: MessageID, in appMode: AppMode) throws -> MessageRecord? {
    let record = try connection.first(
      """
      SELECT seq, type, version, category, class, source, request, created, expires, data FROM message
      WHERE am = ? AND id = ?
      """, .integer(appMode.rawValue), .text(id.rawValue)
    ) { row in
      let number = MessageNumber(rawValue: row.integer(0))
      return MessageRecord(
        identity: MessageIdentity(number: number, id: id), type: row.text(1), typeVersion: Int(row.integer(2)),
        category: row.optionalText(3), frequencyClass: row.text(4), source: row.text(5),
        requestID: row.optionalText(6), content: try keys.open(row.blob(9), at: StorageKeys.Seat(data: number)),
        createdAt: WallTime(milliseconds: row.integer(7)),
        lifetime: row.optionalInteger(8).map(PushLifetime.init(column:)), decisions: [], counts: [:])
    }
    guard var record else { return nil }
    record.decisions = try decisions(of: record.identity.number, in: appMode)
    record.counts = try counts(of: record.identity.number, in: appMode)
    return record
  }

  private func decisions(of message: MessageNumber, in appMode: AppMode) throws -> [DecisionRecord] {
    try connection.rows(
      """
      SELECT u.id, d.reason, d.steps FROM decision d JOIN user u ON u.seq = d.user
      WHERE d.am = ? AND d.msg = ? ORDER BY d.ord
      """, .integer(appMode.rawValue), .integer(message.rawValue)
    ) { row in
      DecisionRecord(
        user: UserID(rawValue: row.text(0)), reason: row.optionalText(1).map(ReasonCode.init(rawValue:)),
        steps: try StepsColumn.decode(row.text(2)))
    }
  }

  private func counts(of message: MessageNumber, in appMode: AppMode) throws -> [DeliveryState: Int] {
    let pairs = try connection.rows(
      "SELECT state, count(*) FROM delivery WHERE am = ? AND msg = ? GROUP BY state", .integer(appMode.rawValue),
      .integer(message.rawValue)
    ) { (try DeliveryState(column: $0.integer(0)), Int($0.integer(1))) }
    return Dictionary(pairs, uniquingKeysWith: +)
  }

  // MARK: Deliveries

  func deliveries(
    of message: MessageID, to user: UserID?, in appMode: AppMode, page: ListPage<DeliveryID>
  ) throws -> [DeliveryRecord] {
    let own = try user.flatMap { try userNumber($0, in: appMode) }
    guard user == nil || own != nil else { return [] }
    let start: Int64? = try page.after.map { try ordinal(of: $0, in: message, appMode) } ?? -1
    guard let start else { return [] }
    let rows = try connection.rows(
      """
      SELECT m.seq, m.id, m.created, u.id, d.user, d.dev, d.state, d.reason, d.at FROM message m
        JOIN delivery d ON d.am = m.am AND d.msg = m.seq JOIN user u ON u.seq = d.user
        JOIN delivery_steps s ON s.am = d.am AND s.msg = d.msg AND s.user = d.user AND s.dev = d.dev
      WHERE m.am = ?1 AND m.id = ?2 AND s.ord > ?3 AND d.user = coalesce(?4, d.user) ORDER BY s.ord LIMIT ?5
      """,
      .integer(appMode.rawValue), .text(message.rawValue), .integer(start),
      SQLiteValue(own?.rawValue), .integer(Int64(page.limit))
    ) { try deliveryRow($0, in: appMode) }
    return try complete(rows, in: appMode)
  }

  /// A delivery's place in its message; `nil` when there is no such delivery.
  private func ordinal(of id: DeliveryID, in message: MessageID, _ appMode: AppMode) throws -> Int64? {
    guard let key = try keys.key(of: id) else { return nil }
    return try connection.first(
      """
      SELECT s.ord FROM delivery_steps s JOIN message m ON m.seq = s.msg
      WHERE s.am = ? AND s.msg = ? AND s.dev = ? AND m.id = ?
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(key.device.rawValue),
      .text(message.rawValue)
    ) { $0.integer(0) }
  }

  func deliveries(to user: UserID, in appMode: AppMode, page: ListPage<DeliveryID>) throws -> [DeliveryRecord] {
    guard let number = try userNumber(user, in: appMode) else { return [] }
    let top = DeliveryKey(message: MessageNumber(rawValue: .max), device: DeviceNumber(rawValue: 0))
    let start: DeliveryKey? = try page.after.map { try keys.key(of: $0) } ?? top
    guard let start else { return [] }
    let rows = try connection.rows(
      """
      SELECT m.seq, m.id, m.created, u.id, d.user, d.dev, d.state, d.reason, d.at FROM single n
        JOIN message m ON m.seq = n.msg JOIN user u ON u.seq = n.user
        JOIN delivery d ON d.am = n.am AND d.msg = n.msg AND d.user = n.user
      WHERE n.am = ?1 AND n.user = ?2 AND n.msg <= ?3 AND (n.msg < ?3 OR d.dev > ?4)
      ORDER BY n.msg DESC, d.dev LIMIT ?5
      """,
      .integer(appMode.rawValue), .integer(number.rawValue), .integer(start.message.rawValue),
      .integer(start.device.rawValue), .integer(Int64(page.limit))
    ) { try deliveryRow($0, in: appMode) }
    return try complete(rows, in: appMode)
  }

  func newestMessage(of type: String, to user: UserID, among: Int, in appMode: AppMode) throws -> MessageIdentity? {
    guard let number = try userNumber(user, in: appMode) else { return nil }
    return try connection.first(
      """
      SELECT m.seq, m.id FROM (
        SELECT msg FROM single WHERE am = ?1 AND user = ?2 ORDER BY msg DESC LIMIT ?3) n
        JOIN message m ON m.seq = n.msg
      WHERE m.type = ?4 ORDER BY m.seq DESC LIMIT 1
      """,
      .integer(appMode.rawValue), .integer(number.rawValue), .integer(Int64(among)), .text(type)
    ) { row in
      MessageIdentity(number: MessageNumber(rawValue: row.integer(0)), id: MessageID(rawValue: row.text(1)))
    }
  }

  func counts(in appMode: AppMode) throws -> StorageCounts {
    let mode = SQLiteValue.integer(appMode.rawValue)
    func count(_ sql: SQL) throws -> Int { try connection.first(sql, mode) { Int($0.integer(0)) } ?? 0 }
    let states = try connection.rows("SELECT state, count(*) FROM delivery WHERE am = ? GROUP BY state", mode) {
      (try DeliveryState(column: $0.integer(0)), Int($0.integer(1)))
    }
    return StorageCounts(
      users: try count("SELECT count(*) FROM user WHERE am = ?"),
      activeDevices: try count("SELECT count(*) FROM device WHERE am = ? AND status = 1"),
      inactiveDevices: try count("SELECT count(*) FROM device WHERE am = ? AND status = 0"),
      messages: try count("SELECT count(*) FROM message WHERE am = ?"),
      deliveries: Dictionary(states, uniquingKeysWith: +))
  }

  func deviceCounts(in appMode: AppMode) throws -> [DeviceCount] {
    try connection.rows(
      "SELECT platform, status, count(*) FROM device WHERE am = ? GROUP BY platform, status",
      .integer(appMode.rawValue)
    ) { row in
      DeviceCount(
        platform: Platform(rawValue: row.text(0)), status: row.integer(1) == 1 ? .active : .inactive,
        count: Int(row.integer(2)))
    }
  }

  func activeDevices(in appMode: AppMode, after: DeviceNumber?, limit: Int) throws -> [DeviceRecord] {
    try connection.rows(
      """
      SELECT * FROM device_row WHERE am = ? AND dev > ? AND status = 1 AND token IS NOT NULL
      ORDER BY dev LIMIT ?
      """,
      .integer(appMode.rawValue), .integer(after?.rawValue ?? .min), .integer(Int64(limit)), as: deviceRecord)
  }
}
