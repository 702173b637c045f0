import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  private struct Waiting {
    var appMode: AppMode
    var key: DeliveryKey
    var user: UserID
    var userNumber: UserNumber
    var push: OutgoingPush
    var messageID: MessageID
    var lifetime: PushLifetime?
    var category: String?
    var attempts: Int
    var postponements: Int
    var due: WallTime
    var frequencyClass: String
    var created: WallTime
  }

  func claimQueued(limit: Int, at now: WallTime) throws -> QueueClaim {
    let rows = try connection.rows(
      "SELECT * FROM outgoing_row WHERE marked = 0 ORDER BY due, msg, dev LIMIT ?", .integer(Int64(limit) + 1),
      as: waiting)
    let due = rows.prefix(limit).prefix { $0.due <= now }
    var claim = QueueClaim(nextDue: rows.dropFirst(due.count).first?.due)
    var claimed: [AppMode: [DeliveryKey]] = [:]
    for row in due {
      let device = try device(row.key.device, in: row.appMode)
      if let (state, reason) = try obstacle(row, device, at: now) {
        try conclude(row.key, of: row.userNumber, in: row.appMode, state, reason, at: now, lastAttempt: 0)
        let subject = DeliverySubject(
          frequencyClass: row.frequencyClass, platform: device?.platform, since: row.created)
        claim.ended.append(QueueClaim.Ended(key: row.key, state: state, reason: reason, subject: subject))
      } else if let device, let ready = try outgoing(row, to: device) {
        try start(row.key, of: row.userNumber, in: row.appMode, at: now)
        claimed[row.appMode, default: []].append(row.key)
        claim.deliveries.append(ready)
      }
    }
    for (appMode, keys) in claimed { try mark(keys, in: appMode, at: now) }
    return claim
  }

  /// Reads a row of the view `outgoing_row`.
  private func waiting(_ row: SQLiteRow) throws -> Waiting {
    let key = DeliveryKey(
      message: MessageNumber(rawValue: row.integer(1)), device: DeviceNumber(rawValue: row.integer(2)))
    return Waiting(
      appMode: AppMode(rawValue: row.integer(0)), key: key, user: UserID(rawValue: row.text(5)),
      userNumber: UserNumber(rawValue: row.integer(3)),
      push: try OutgoingPush(decoding: keys.open(row.blob(4), at: StorageKeys.Seat(push: key))),
      messageID: MessageID(rawValue: row.text(6)),
      lifetime: row.optionalInteger(7).map(PushLifetime.init(column:)), category: row.optionalText(8),
      attempts: Int(row.integer(9)), postponements: Int(row.integer(10)),
      due: WallTime(milliseconds: row.integer(11)), frequencyClass: row.text(13),
      created: WallTime(milliseconds: row.integer(14)))
  }

  /// Why a waiting delivery may not leave any more, `nil` if it may.
  private func obstacle(
    _ row: Waiting, _ device: DeviceRecord?, at now: WallTime
  ) throws -> (DeliveryState, ReasonCode)? {
    if row.lifetime?.isOver(at: now) == true { return (.expired, .timeToLiveElapsed) }
    let preference = try row.category.flatMap { try preferences(of: row.userNumber, in: row.appMode)[$0] }
    return device.obstacle(for: row.user, preference: preference).map { (.suppressed, $0) }
  }

  private func outgoing(_ row: Waiting, to device: DeviceRecord) throws -> OutgoingDelivery? {
    var ready = try outgoing(
      row.push, key: row.key, to: device, of: row.user, messageID: row.messageID, lifetime: row.lifetime,
      in: row.appMode)
    ready?.attempts = row.attempts
    ready?.postponements = row.postponements
    return ready
  }

  private func start(_ key: DeliveryKey, of user: UserNumber, in appMode: AppMode, at now: WallTime) throws {
    try connection.run(
      "UPDATE outgoing SET marked = 1 WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue))
    try connection.run(
      "UPDATE delivery SET state = ?, reason = NULL, at = ? WHERE am = ? AND msg = ? AND user = ? AND dev = ?",
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
      "SELECT * FROM outgoing_row WHERE am = ? AND msg = ? AND dev = ? AND marked = 1", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue), as: waiting)
    guard let row else { return nil }
    var repeatable: OutgoingDelivery?
    if row.push.collapseID != nil, row.lifetime != .attemptOnce, let device = try device(key.device, in: appMode),
      try obstacle(row, device, at: markedAt) == nil
    {
      repeatable = try outgoing(row, to: device)
    }
    return OpenMark(
      appMode: appMode, key: key, id: try keys.deliveryID(for: key), markedAt: markedAt, repeatable: repeatable)
  }

  /// Back into the queue, without its mark, until its time.
  func postpone(_ outcome: DeliveryOutcome, of user: UserNumber, in appMode: AppMode, until due: WallTime) throws {
    try connection.run(
      "UPDATE outgoing SET marked = 0, due = ?, postponed = postponed + 1 WHERE am = ? AND msg = ? AND dev = ?",
      .integer(due.milliseconds), .integer(appMode.rawValue), .integer(outcome.key.message.rawValue),
      .integer(outcome.key.device.rawValue))
    try setState(
      outcome.key, of: user, in: appMode, .retrying, outcome.reason, at: outcome.at,
      lastAttempt: outcome.attempts.last?.number ?? 0)
  }
}
