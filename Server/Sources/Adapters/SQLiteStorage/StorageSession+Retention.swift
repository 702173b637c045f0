import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func prune(from place: PrunePlace, limit: Int, at now: WallTime) throws -> PruneStep {
    switch place {
    case .messages: try pruneMessages(from: place, limit: limit, at: now)
    case .claims: try pruneClaims(limit: limit, at: now)
    case .devices: try pruneDevices(limit: limit, at: now)
    }
  }

  // MARK: Messages

  private struct Candidate {
    var number: MessageNumber
    var appMode: AppMode
    var acceptedAt: WallTime
  }

  /// What an earlier bite left of a message goes first, also when that bite was another process's.
  private func pruneMessages(from start: PrunePlace, limit: Int, at now: WallTime) throws -> PruneStep {
    let horizon = now.advanced(by: .zero - Retention.message)
    var step = PruneStep(next: start)
    var room = limit
    while room > 0, let place = step.next {
      if let going = try goingMessage() {
        room -= max(1, try removeRows(of: going, limit: room))
      } else if let candidate = try candidate(behind: place, horizon: horizon) {
        room -= 1
        step.next = .messages(acceptedAt: candidate.acceptedAt, number: candidate.number)
        if try isOver(candidate, horizon: horizon, at: now) {
          try hide(candidate)
          step.messages += 1
        }
      } else {
        step.next = .claims
        return step
      }
    }
    return step
  }

  private func candidate(behind place: PrunePlace, horizon: WallTime) throws -> Candidate? {
    guard case .messages(let acceptedAt, let number) = place else { return nil }
    return try connection.first(
      """
      SELECT seq, am, created FROM message WHERE created <= ?1 AND (created, seq) > (?2, ?3)
      ORDER BY created, seq LIMIT 1
      """,
      .integer(horizon.milliseconds), .integer(acceptedAt.milliseconds), .integer(number.rawValue)
    ) { row in
      Candidate(
        number: MessageNumber(rawValue: row.integer(0)), appMode: AppMode(rawValue: row.integer(1)),
        acceptedAt: WallTime(milliseconds: row.integer(2)))
    }
  }

  /// Nothing of it waits, its last outcome is old enough, and its claims have run out.
  private func isOver(_ message: Candidate, horizon: WallTime, at now: WallTime) throws -> Bool {
    try connection.first(
      """
      SELECT NOT EXISTS (SELECT 1 FROM outgoing WHERE am = ?1 AND msg = ?2)
        AND NOT EXISTS (SELECT 1 FROM delivery WHERE am = ?1 AND msg = ?2 AND at > ?3)
        AND NOT EXISTS (
          SELECT 1 FROM message m JOIN dedupe d ON d.am = m.am AND d.key = m.dedupe
          WHERE m.seq = ?2 AND d.msg = ?2 AND d.until >= ?4)
      """,
      .integer(message.appMode.rawValue), .integer(message.number.rawValue), .integer(horizon.milliseconds),
      .integer(now.milliseconds)
    ) { $0.integer(0) != 0 } ?? false
  }

  /// From here on nobody sees the message; the highest number is kept, because ids are computed from it.
  private func hide(_ message: Candidate) throws {
    try connection.run(
      """
      INSERT INTO meta (key, value) VALUES ('lastMessage', ?1)
      ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)
      """, .integer(message.number.rawValue))
    try connection.run(
      "INSERT INTO pruning (msg, am) VALUES (?, ?)", .integer(message.number.rawValue),
      .integer(message.appMode.rawValue))
    try connection.run("DELETE FROM message WHERE seq = ?", .integer(message.number.rawValue))
  }

  private func goingMessage() throws -> Candidate? {
    try connection.first("SELECT msg, am FROM pruning LIMIT 1") { row in
      Candidate(
        number: MessageNumber(rawValue: row.integer(0)), appMode: AppMode(rawValue: row.integer(1)),
        acceptedAt: WallTime(milliseconds: 0))
    }
  }

  private static let rows: [SQL] = [
    """
    DELETE FROM attempt WHERE am = ?1 AND msg = ?2 AND (user, dev, n) IN (
      SELECT user, dev, n FROM attempt WHERE am = ?1 AND msg = ?2 LIMIT ?3)
    """,
    """
    DELETE FROM delivery_steps WHERE am = ?1 AND msg = ?2 AND (user, dev) IN (
      SELECT user, dev FROM delivery_steps WHERE am = ?1 AND msg = ?2 LIMIT ?3)
    """,
    """
    DELETE FROM delivery WHERE am = ?1 AND msg = ?2 AND (user, dev) IN (
      SELECT user, dev FROM delivery WHERE am = ?1 AND msg = ?2 LIMIT ?3)
    """,
    // The decision names the user whose list of messages has the row, so it goes after it.
    """
    DELETE FROM single WHERE am = ?1 AND msg = ?2 AND user IN (
      SELECT s.user FROM decision c CROSS JOIN single s ON s.am = c.am AND s.user = c.user AND s.msg = c.msg
      WHERE c.am = ?1 AND c.msg = ?2 LIMIT ?3)
    """,
    """
    DELETE FROM decision WHERE am = ?1 AND msg = ?2 AND user IN (
      SELECT user FROM decision WHERE am = ?1 AND msg = ?2 LIMIT ?3)
    """,
  ]

  /// - Returns: how many rows went.
  private func removeRows(of message: Candidate, limit: Int) throws -> Int {
    var room = limit - (try removeEvents(of: message, limit: limit))
    guard room > 0 else { return limit }
    for sql in Self.rows {
      room -= try connection.run(
        sql, .integer(message.appMode.rawValue), .integer(message.number.rawValue), .integer(Int64(room)))
      guard room > 0 else { return limit }
    }
    try connection.run("DELETE FROM pruning WHERE msg = ?", .integer(message.number.rawValue))
    return limit - room
  }

  /// One by one: a device may have told of anything any number of times, and nothing else names one row.
  private func removeEvents(of message: Candidate, limit: Int) throws -> Int {
    let appMode = SQLiteValue.integer(message.appMode.rawValue)
    let number = SQLiteValue.integer(message.number.rawValue)
    let keys = try connection.rows(
      "SELECT dev, kind, key FROM event WHERE am = ? AND msg = ? LIMIT ?", appMode, number, .integer(Int64(limit))
    ) { (SQLiteValue.integer($0.integer(0)), SQLiteValue.text($0.text(1)), SQLiteValue.blob($0.blob(2))) }
    for (device, kind, key) in keys {
      try connection.run(
        "DELETE FROM event WHERE am = ? AND msg = ? AND dev = ? AND kind = ? AND key = ?", appMode, number, device,
        kind,
        key)
    }
    return keys.count
  }

  // MARK: Claims and devices

  private func pruneClaims(limit: Int, at now: WallTime) throws -> PruneStep {
    let over = try connection.rows(
      "SELECT am, key, user FROM dedupe WHERE until < ? ORDER BY until LIMIT ?", .integer(now.milliseconds),
      .integer(Int64(limit))
    ) { (SQLiteValue.integer($0.integer(0)), SQLiteValue.blob($0.blob(1)), SQLiteValue.integer($0.integer(2))) }
    for (appMode, key, user) in over {
      try connection.run("DELETE FROM dedupe WHERE am = ? AND key = ? AND user = ?", appMode, key, user)
    }
    return PruneStep(claims: over.count, next: over.count < limit ? .devices : .claims)
  }

  private func pruneDevices(limit: Int, at now: WallTime) throws -> PruneStep {
    let horizon = now.advanced(by: .zero - Retention.inactiveDevice)
    let dead = try connection.rows(
      "SELECT am, dev FROM device WHERE status = 0 AND inactive <= ? ORDER BY inactive LIMIT ?",
      .integer(horizon.milliseconds), .integer(Int64(limit))
    ) { (AppMode(rawValue: $0.integer(0)), DeviceNumber(rawValue: $0.integer(1))) }
    for (appMode, number) in dead {
      if let device = try device(number, in: appMode) { try remove(device, in: appMode, at: now) }
    }
    return PruneStep(devices: dead.count, next: dead.count < limit ? nil : .devices)
  }
}
