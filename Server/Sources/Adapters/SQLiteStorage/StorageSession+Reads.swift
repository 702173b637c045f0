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
    return try rows.map { try complete($0, in: appMode) }
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
    return try rows.map { try complete($0, in: appMode) }
  }

  private struct DeliveryRow {
    var record: DeliveryRecord
    var user: UserNumber
  }

  private func deliveryRow(_ row: SQLiteRow, in appMode: AppMode) throws -> DeliveryRow {
    let key = DeliveryKey(
      message: MessageNumber(rawValue: row.integer(0)), device: DeviceNumber(rawValue: row.integer(5)))
    let record = DeliveryRecord(
      key: key, id: try keys.deliveryID(for: key), messageID: MessageID(rawValue: row.text(1)),
      user: UserID(rawValue: row.text(3)), device: try keys.deviceID(for: key.device, appMode: appMode),
      state: try DeliveryState(column: row.integer(6)),
      reason: row.optionalText(7).map(ReasonCode.init(rawValue:)),
      createdAt: WallTime(milliseconds: row.integer(2)), updatedAt: WallTime(milliseconds: row.integer(8)),
      attempts: [], events: [])
    return DeliveryRow(record: record, user: UserNumber(rawValue: row.integer(4)))
  }

  private func complete(_ row: DeliveryRow, in appMode: AppMode) throws -> DeliveryRecord {
    var record = row.record
    let key = record.key
    record.attempts = try connection.rows(
      """
      SELECT n, started, us, env, status, reason, since, apnsId, apnsUniqueId, connection FROM attempt
      WHERE am = ? AND msg = ? AND user = ? AND dev = ? ORDER BY n
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(row.user.rawValue),
      .integer(key.device.rawValue), as: attempt)
    record.events = try connection.rows(
      """
      SELECT kind, at, received, action, text, ord, name, value FROM event
      WHERE am = ? AND msg = ? AND dev = ? ORDER BY ord
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(key.device.rawValue)
    ) { try event($0, of: key) }
    return record
  }

  private func attempt(_ row: SQLiteRow) throws -> AttemptRecord {
    guard let environment = PushEnvironment(rawValue: row.text(3)) else {
      throw StorageError(.corrupt, "An attempt names an environment that this program does not know.")
    }
    return AttemptRecord(
      number: Int(row.integer(0)), startedAt: WallTime(milliseconds: row.integer(1)),
      duration: .microseconds(row.integer(2)), environment: environment,
      status: row.optionalInteger(4).map { Int($0) }, reason: row.optionalText(5),
      tokenDeadSince: row.optionalInteger(6).map { WallTime(milliseconds: $0) }, apnsID: row.optionalText(7),
      apnsUniqueID: row.optionalText(8), connection: row.text(9))
  }

  private func event(_ row: SQLiteRow, of key: DeliveryKey) throws -> EventRecord {
    guard let kind = EventKind(rawValue: row.text(0)) else {
      throw StorageError(.corrupt, "A report is of a kind that this program does not know.")
    }
    let seat = StorageKeys.Seat(eventText: key, ordinal: row.integer(5))
    let text = try row.optionalBlob(4).map { String(decoding: try keys.open($0, at: seat), as: UTF8.self) }
    return EventRecord(
      kind: kind, at: WallTime(milliseconds: row.integer(1)), receivedAt: WallTime(milliseconds: row.integer(2)),
      action: row.optionalText(3), text: text, name: row.optionalText(6), value: row.optionalText(7))
  }

  // MARK: Trace and explanation

  func trace(of id: DeliveryID, in appMode: AppMode) throws -> DeliveryTrace? {
    guard let key = try keys.key(of: id), let user = try deliveryOwner(key, in: appMode) else { return nil }
    let row = try connection.first(
      """
      SELECT m.seq, m.id, m.created, u.id, d.user, d.dev, d.state, d.reason, d.at FROM delivery d
        JOIN message m ON m.seq = d.msg JOIN user u ON u.seq = d.user
      WHERE d.am = ? AND d.msg = ? AND d.user = ? AND d.dev = ?
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(user.rawValue),
      .integer(key.device.rawValue)
    ) { try deliveryRow($0, in: appMode) }
    guard let row else { return nil }
    let steps = try connection.first(
      """
      SELECT c.steps, s.decided, s.concluded FROM delivery_steps s
        LEFT JOIN decision c ON c.am = s.am AND c.msg = s.msg AND c.user = s.user
      WHERE s.am = ? AND s.msg = ? AND s.user = ? AND s.dev = ?
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(user.rawValue),
      .integer(key.device.rawValue)
    ) { row in
      let decision = try row.optionalText(0).map(StepsColumn.decode) ?? []
      let concluded = try row.optionalText(2).map(StepsColumn.decode) ?? []
      return (decided: decision + (try StepsColumn.decode(row.text(1))), concluded: concluded)
    }
    return DeliveryTrace(
      delivery: try complete(row, in: appMode), decided: steps?.decided ?? [], concluded: steps?.concluded ?? [])
  }

  func explanation(of id: MessageID, for user: UserID, in appMode: AppMode) throws -> UserExplanation? {
    guard let message = try message(id, in: appMode) else { return nil }
    let own = try deliveries(of: id, to: user, in: appMode, page: .whole)
    return UserExplanation(
      message: message, decision: message.decisions.first { $0.user == user },
      traces: try own.compactMap { try trace(of: $0.id, in: appMode) })
  }

  func messages(to user: UserID, in appMode: AppMode, page: ListPage<MessageID>) throws -> [MessageIdentity] {
    guard let number = try userNumber(user, in: appMode) else { return [] }
    let start: Int64? =
      try page.after.map { last in
        try connection.first(
          "SELECT seq FROM message WHERE am = ? AND id = ?", .integer(appMode.rawValue), .text(last.rawValue)
        ) { $0.integer(0) }
      } ?? .max
    guard let start else { return [] }
    return try connection.rows(
      """
      SELECT m.seq, m.id FROM single n JOIN message m ON m.seq = n.msg
      WHERE n.am = ? AND n.user = ? AND n.msg < ? ORDER BY n.msg DESC LIMIT ?
      """,
      .integer(appMode.rawValue), .integer(number.rawValue), .integer(start),
      .integer(Int64(page.limit))
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
