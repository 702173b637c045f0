import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

/// A delivery as its own row has it; attempts, reports and steps stand in other tables.
struct DeliveryRow {
  var record: DeliveryRecord
  var user: UserNumber
}

// Deliveries with all that hangs on them. However many there are, each table is asked once.
extension StorageSession {
  func deliveryRow(_ row: SQLiteRow, in appMode: AppMode) throws -> DeliveryRow {
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

  /// The rows with their attempts and reports, in the same order.
  func complete(_ rows: [DeliveryRow], in appMode: AppMode) throws -> [DeliveryRecord] {
    guard !rows.isEmpty else { return [] }
    let places = Self.places(of: rows)
    var attempts: [Int: [AttemptRecord]] = [:]
    for (index, attempt) in try self.attempts(at: places, in: appMode) { attempts[index, default: []].append(attempt) }
    var events: [Int: [EventRecord]] = [:]
    for (index, event) in try self.events(at: places, of: rows, in: appMode) {
      events[index, default: []].append(event)
    }
    return rows.indices.map { index in
      var record = rows[index].record
      record.attempts = attempts[index] ?? []
      record.events = events[index] ?? []
      return record
    }
  }

  /// `[[message, user, device], …]`, as the queries below take it.
  private static func places(of rows: [DeliveryRow]) -> SQLiteValue {
    let places = rows.map { row -> JSONValue in
      [.int(row.record.key.message.rawValue), .int(row.user.rawValue), .int(row.record.key.device.rawValue)]
    }
    return .text(JSONValue.array(places).encodedText)
  }

  private func attempts(at places: SQLiteValue, in appMode: AppMode) throws -> [(Int, AttemptRecord)] {
    try connection.rows(
      """
      SELECT p.key, a.n, a.started, a.us, a.env, a.status, a.reason, a.since, a.apnsId, a.apnsUniqueId, a.connection
      FROM json_each(?2) p CROSS JOIN attempt a ON a.am = ?1 AND a.msg = json_extract(p.value, '$[0]')
        AND a.user = json_extract(p.value, '$[1]') AND a.dev = json_extract(p.value, '$[2]')
      ORDER BY p.key, a.n
      """,
      .integer(appMode.rawValue), places
    ) { (Int($0.integer(0)), try attempt($0)) }
  }

  private func attempt(_ row: SQLiteRow) throws -> AttemptRecord {
    guard let environment = PushEnvironment(rawValue: row.text(4)) else {
      throw StorageError(.corrupt, "An attempt names an environment that this program does not know.")
    }
    return AttemptRecord(
      number: Int(row.integer(1)), startedAt: WallTime(milliseconds: row.integer(2)),
      duration: .microseconds(row.integer(3)), environment: environment,
      status: row.optionalInteger(5).map { Int($0) }, reason: row.optionalText(6),
      tokenDeadSince: row.optionalInteger(7).map { WallTime(milliseconds: $0) }, apnsID: row.optionalText(8),
      apnsUniqueID: row.optionalText(9), connection: row.text(10))
  }

  private func events(
    at places: SQLiteValue, of rows: [DeliveryRow], in appMode: AppMode
  ) throws -> [(Int, EventRecord)] {
    try connection.rows(
      """
      SELECT p.key, e.kind, e.at, e.received, e.action, e.text, e.ord, e.name, e.value
      FROM json_each(?2) p CROSS JOIN event e ON e.am = ?1 AND e.msg = json_extract(p.value, '$[0]')
        AND e.dev = json_extract(p.value, '$[2]')
      ORDER BY p.key, e.ord
      """,
      .integer(appMode.rawValue), places
    ) { row in
      let index = Int(row.integer(0))
      return (index, try event(row, of: rows[index].record.key))
    }
  }

  private func event(_ row: SQLiteRow, of key: DeliveryKey) throws -> EventRecord {
    guard let kind = EventKind(rawValue: row.text(1)) else {
      throw StorageError(.corrupt, "A report is of a kind that this program does not know.")
    }
    let seat = StorageKeys.Seat(eventText: key, ordinal: row.integer(6))
    let text = try row.optionalBlob(5).map { String(decoding: try keys.open($0, at: seat), as: UTF8.self) }
    return EventRecord(
      kind: kind, at: WallTime(milliseconds: row.integer(2)), receivedAt: WallTime(milliseconds: row.integer(3)),
      action: row.optionalText(4), text: text, name: row.optionalText(7), value: row.optionalText(8))
  }

  // MARK: Trace and explanation

  func trace(of id: DeliveryID, in appMode: AppMode) throws -> DeliveryTrace? {
    guard let key = try keys.key(of: id), let user = try deliveryOwner(key, in: appMode) else { return nil }
    return try traces(of: key.message, to: user, device: key.device, in: appMode).first
  }

  func explanation(of id: MessageID, for user: UserID, in appMode: AppMode) throws -> UserExplanation? {
    guard let message = try message(id, in: appMode) else { return nil }
    let number = try userNumber(user, in: appMode)
    return UserExplanation(
      message: message, decision: message.decisions.first { $0.user == user },
      traces: try number.map { try traces(of: message.identity.number, to: $0, device: nil, in: appMode) } ?? [])
  }

  private struct TraceRow {
    var delivery: DeliveryRow
    var decided: [TraceStep]
    var concluded: [TraceStep]
  }

  /// - Parameter device: `nil`: all of the user's, in the order of acceptance.
  private func traces(
    of message: MessageNumber, to user: UserNumber, device: DeviceNumber?, in appMode: AppMode
  ) throws -> [DeliveryTrace] {
    let rows = try connection.rows(
      """
      SELECT m.seq, m.id, m.created, u.id, d.user, d.dev, d.state, d.reason, d.at, c.steps, s.decided, s.concluded
      FROM delivery d JOIN message m ON m.seq = d.msg JOIN user u ON u.seq = d.user
        JOIN delivery_steps s ON s.am = d.am AND s.msg = d.msg AND s.user = d.user AND s.dev = d.dev
        LEFT JOIN decision c ON c.am = d.am AND c.msg = d.msg AND c.user = d.user
      WHERE d.am = ? AND d.msg = ? AND d.user = ? AND d.dev = coalesce(?, d.dev) ORDER BY s.ord
      """,
      .integer(appMode.rawValue), .integer(message.rawValue), .integer(user.rawValue), SQLiteValue(device?.rawValue)
    ) { row in
      TraceRow(
        delivery: try deliveryRow(row, in: appMode),
        decided: try (row.optionalText(9).map(StepsColumn.decode) ?? []) + StepsColumn.decode(row.text(10)),
        concluded: try row.optionalText(11).map(StepsColumn.decode) ?? [])
    }
    let records = try complete(rows.map(\.delivery), in: appMode)
    return zip(rows, records).map { row, record in
      DeliveryTrace(delivery: record, decided: row.decided, concluded: row.concluded)
    }
  }
}
