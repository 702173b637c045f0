import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  // MARK: The queue of accepted, unmarked deliveries

  private struct Queued {
    var appMode: AppMode
    var key: DeliveryKey
    var user: UserID
    var userNumber: UserNumber
    var push: OutgoingPush
    var messageID: MessageID
    var expiresAt: WallTime?
  }

  func claimQueued(limit: Int, at now: WallTime) throws -> [OutgoingDelivery] {
    let rows = try connection.rows(
      """
      SELECT o.am, o.msg, o.dev, o.user, o.push, u.id, m.id, m.expires FROM outgoing o
        JOIN user u ON u.seq = o.user JOIN message m ON m.seq = o.msg
      WHERE o.marked = 0 ORDER BY o.msg, o.dev LIMIT ?
      """, .integer(Int64(limit)), as: queued)
    var claimed: [AppMode: [OutgoingDelivery]] = [:]
    for row in rows {
      if let expiry = row.expiresAt, expiry <= now {
        try conclude(row.key, of: row.userNumber, in: row.appMode, .expired, .timeToLiveElapsed, at: now, attempts: 0)
        continue
      }
      let device = try device(row.key.device, in: row.appMode)
      if let reason = Self.obstacle(device, for: row.user) {
        try conclude(row.key, of: row.userNumber, in: row.appMode, .suppressed, reason, at: now, attempts: 0)
      } else if let device,
        let ready = try outgoing(
          row.push, key: row.key, to: device, messageID: row.messageID, expiresAt: row.expiresAt, in: row.appMode)
      {
        try start(row.key, of: row.userNumber, in: row.appMode, at: now)
        claimed[row.appMode, default: []].append(ready)
      }
    }
    for (appMode, deliveries) in claimed { try mark(deliveries.map(\.key), in: appMode, at: now) }
    return claimed.values.flatMap { $0 }.sorted { ($0.key.message, $0.key.device) < ($1.key.message, $1.key.device) }
  }

  private func queued(_ row: SQLiteRow) throws -> Queued {
    let key = DeliveryKey(
      message: MessageNumber(rawValue: row.integer(1)), device: DeviceNumber(rawValue: row.integer(2)))
    return Queued(
      appMode: AppMode(rawValue: row.integer(0)), key: key, user: UserID(rawValue: row.text(5)),
      userNumber: UserNumber(rawValue: row.integer(3)),
      push: try OutgoingPush(decoding: keys.open(row.blob(4), at: StorageKeys.Seat(push: key))),
      messageID: MessageID(rawValue: row.text(6)),
      expiresAt: row.optionalInteger(7).map { WallTime(milliseconds: $0) })
  }

  /// Why a queued delivery may not leave any more, `nil` if it may.
  private static func obstacle(_ device: DeviceRecord?, for user: UserID) -> ReasonCode? {
    guard let device, device.token != nil, let owner = device.user else { return .deviceUnregistered }
    if owner != user { return .deviceReassigned }
    return device.status == .inactive ? .deviceInactive : nil
  }

  private func start(_ key: DeliveryKey, of user: UserNumber, in appMode: AppMode, at now: WallTime) throws {
    try connection.run(
      "UPDATE outgoing SET marked = 1 WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue))
    try connection.run(
      "UPDATE delivery SET state = ?, at = ? WHERE am = ? AND msg = ? AND user = ? AND dev = ?",
      .integer(DeliveryState.sending.column), .integer(now.milliseconds), .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(user.rawValue), .integer(key.device.rawValue))
  }

  func openMarks() throws -> [OpenMark] {
    let marks = try connection.rows("SELECT am, msg, at, members FROM mark ORDER BY msg, sub") { row in
      (
        AppMode(rawValue: row.integer(0)), MessageNumber(rawValue: row.integer(1)),
        WallTime(milliseconds: row.integer(2)), try MarkMembers.decode(row.blob(3))
      )
    }
    return try marks.flatMap { appMode, message, markedAt, members in
      try members.compactMap { device in
        try openMark(DeliveryKey(message: message, device: device), in: appMode, markedAt: markedAt)
      }
    }
  }

  private func openMark(_ key: DeliveryKey, in appMode: AppMode, markedAt: WallTime) throws -> OpenMark? {
    let row = try connection.first(
      """
      SELECT o.am, o.msg, o.dev, o.user, o.push, u.id, m.id, m.expires FROM outgoing o
        JOIN user u ON u.seq = o.user JOIN message m ON m.seq = o.msg
      WHERE o.am = ? AND o.msg = ? AND o.dev = ? AND o.marked = 1
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(key.device.rawValue), as: queued)
    guard let row else { return nil }
    var repeatable: OutgoingDelivery?
    if row.push.collapseID != nil, let device = try device(key.device, in: appMode),
      Self.obstacle(device, for: row.user) == nil
    {
      repeatable = try outgoing(
        row.push, key: key, to: device, messageID: row.messageID, expiresAt: row.expiresAt, in: appMode)
    }
    return OpenMark(
      appMode: appMode, key: key, id: try keys.deliveryID(for: key), markedAt: markedAt, repeatable: repeatable)
  }

  // MARK: Outcomes

  func recordOutcomes(_ outcomes: [DeliveryOutcome]) throws -> [OutcomeResult] {
    try outcomes.check()
    var touched: Set<MessageNumber> = []
    var modes: [MessageNumber: AppMode] = [:]
    let results = try outcomes.map { outcome in
      let result = try record(outcome, modes: &modes)
      if result.isRecorded { touched.insert(outcome.key.message) }
      return result
    }
    for message in touched {
      if let appMode = modes[message] { try dropFinishedMarks(of: message, in: appMode) }
    }
    return results
  }

  private func record(
    _ outcome: DeliveryOutcome, modes: inout [MessageNumber: AppMode]
  ) throws -> OutcomeResult {
    let key = outcome.key
    let appMode =
      try modes[key.message]
      ?? connection.first("SELECT am FROM message WHERE seq = ?", .integer(key.message.rawValue)) {
        AppMode(rawValue: $0.integer(0))
      }
    guard let appMode else { return OutcomeResult(key: key, isRecorded: false, hygiene: .none) }
    modes[key.message] = appMode
    let user = try connection.first(
      "SELECT user FROM outgoing WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue)
    ) { UserNumber(rawValue: $0.integer(0)) }
    guard let user else { return OutcomeResult(key: key, isRecorded: false, hygiene: .none) }
    let device = try device(key.device, in: appMode)
    let hygiene = device.map { TokenHygiene.decide(after: outcome, on: $0) } ?? .none
    if let device { try apply(hygiene, to: device, in: appMode, at: outcome.at) }
    for attempt in outcome.attempts { try insert(attempt, of: key, user: user, in: appMode) }
    if let step = hygiene.step(at: outcome.at) {
      try connection.run(
        "UPDATE delivery_steps SET concluded = ? WHERE am = ? AND msg = ? AND user = ? AND dev = ?",
        .text(StepsColumn.encode([step])), .integer(appMode.rawValue), .integer(key.message.rawValue),
        .integer(user.rawValue), .integer(key.device.rawValue))
    }
    try conclude(
      key, of: user, in: appMode, outcome.state, outcome.reason, at: outcome.at, attempts: outcome.attempts.count)
    return OutcomeResult(key: key, isRecorded: true, hygiene: hygiene)
  }

  private func apply(
    _ hygiene: TokenHygiene, to device: DeviceRecord, in appMode: AppMode, at now: WallTime
  ) throws {
    switch hygiene {
    case .environmentLearned(let environment):
      try connection.run(
        "UPDATE device_seen SET env = ?, learned = 1 WHERE am = ? AND dev = ?", .text(environment.rawValue),
        .integer(appMode.rawValue), .integer(device.number.rawValue))
    case .deactivated(let reason):
      try setStatus(of: device, active: false, reason: reason, in: appMode, at: now)
    case .none, .keptReregistered, .keptEnvironmentUnknown, .keptTokenReplaced: break
    }
  }

  func setStatus(
    of device: DeviceRecord, active: Bool, reason: ReasonCode?, in appMode: AppMode, at now: WallTime
  ) throws {
    let owner = try owner(device.user, in: appMode)
    try connection.run(
      "UPDATE device SET status = ?, reason = ? WHERE am = ? AND user = ? AND dev = ?", SQLiteValue(active),
      SQLiteValue(reason?.rawValue), .integer(appMode.rawValue), .integer(owner.rawValue),
      .integer(device.number.rawValue))
    try noteChange(of: owner, in: appMode, at: now)
  }

  private func insert(
    _ attempt: AttemptRecord, of key: DeliveryKey, user: UserNumber, in appMode: AppMode
  ) throws {
    try connection.run(
      """
      INSERT INTO attempt (am, msg, user, dev, n, started, us, env, status, reason, since, apnsId, apnsUniqueId,
        connection)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(user.rawValue),
      .integer(key.device.rawValue), .integer(Int64(attempt.number)), .integer(attempt.startedAt.milliseconds),
      .integer(attempt.duration.nanosecondsClamped / 1_000), .text(attempt.environment.rawValue),
      SQLiteValue(attempt.status), SQLiteValue(attempt.reason), SQLiteValue(attempt.tokenDeadSince?.milliseconds),
      SQLiteValue(attempt.apnsID), SQLiteValue(attempt.apnsUniqueID), .text(attempt.connection))
  }

  private func conclude(
    _ key: DeliveryKey, of user: UserNumber, in appMode: AppMode, _ state: DeliveryState, _ reason: ReasonCode?,
    at now: WallTime, attempts: Int
  ) throws {
    try connection.run(
      """
      UPDATE delivery SET state = ?, reason = ?, at = ?, n = ?
      WHERE am = ? AND msg = ? AND user = ? AND dev = ?
      """,
      .integer(state.column), SQLiteValue(reason?.rawValue), .integer(now.milliseconds), .integer(Int64(attempts)),
      .integer(appMode.rawValue), .integer(key.message.rawValue), .integer(user.rawValue),
      .integer(key.device.rawValue))
    try connection.run(
      "DELETE FROM outgoing WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue))
    if attempts == 0 { try releaseClaim(of: user, message: key.message, in: appMode) }
  }

  /// Gives the dedupe claim back when the user's deliveries all ended without an attempt, for curable reasons.
  private func releaseClaim(of user: UserNumber, message: MessageNumber, in appMode: AppMode) throws {
    let all = try connection.rows(
      "SELECT state, reason, n FROM delivery WHERE am = ? AND msg = ? AND user = ?", .integer(appMode.rawValue),
      .integer(message.rawValue), .integer(user.rawValue)
    ) { row in
      let reason = row.optionalText(1).map(ReasonCode.init(rawValue:))
      return try DeliveryState(column: row.integer(0)).isTerminal && row.integer(2) == 0
        && reason?.releasesDedupeClaim == true
    }
    guard all.allSatisfy({ $0 }) else { return }
    try connection.run(
      """
      DELETE FROM dedupe WHERE am = ?1 AND user = ?2 AND msg = ?3
        AND key = (SELECT dedupe FROM message WHERE seq = ?3)
      """,
      .integer(appMode.rawValue), .integer(user.rawValue), .integer(message.rawValue))
  }

  private func dropFinishedMarks(of message: MessageNumber, in appMode: AppMode) throws {
    let open = Set(
      try connection.rows(
        "SELECT dev FROM outgoing WHERE am = ? AND msg = ? AND marked = 1", .integer(appMode.rawValue),
        .integer(message.rawValue)
      ) { DeviceNumber(rawValue: $0.integer(0)) })
    let marks = try connection.rows(
      "SELECT sub, members FROM mark WHERE am = ? AND msg = ?", .integer(appMode.rawValue),
      .integer(message.rawValue)
    ) { ($0.integer(0), try MarkMembers.decode($0.blob(1))) }
    for (sub, members) in marks where open.isDisjoint(with: members) {
      try connection.run(
        "DELETE FROM mark WHERE am = ? AND msg = ? AND sub = ?", .integer(appMode.rawValue),
        .integer(message.rawValue), .integer(sub))
    }
  }
}
