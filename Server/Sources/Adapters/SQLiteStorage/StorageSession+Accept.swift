import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func accept(_ acceptance: MessageAcceptance) throws -> AcceptanceResult {
    try acceptance.check()
    let appMode = acceptance.appMode
    let known = try acceptance.decisions.compactMap { try userNumber($0.user, in: appMode) }
    if try isStale(Set(known), in: appMode, since: acceptance.seenChange) { return .stale }
    let dedupeKey = try acceptance.dedupe.map { try keys.hash($0.key, use: "dedupe.key") }
    if let dedupeKey {
      let held = try claimsHeld(against: acceptance, key: dedupeKey)
      if !held.isEmpty { return .duplicate(held) }
    }
    try insertMessage(acceptance, dedupeKey: dedupeKey)
    var numbers: [UserID: UserNumber] = [:]
    for (ordinal, decision) in acceptance.decisions.enumerated() {
      let user = try seeUser(decision.user, in: appMode)
      numbers[decision.user] = user
      try insertDecision(decision, of: acceptance, user: user, ordinal: ordinal)
      if let dedupeKey, let dedupe = acceptance.dedupe, acceptance.keepsClaim(of: decision) {
        try claim(
          dedupeKey, for: user, by: acceptance.identity.number, in: appMode, now: acceptance.createdAt,
          window: dedupe.window)
      }
    }
    return .accepted(try insertDeliveries(of: acceptance, users: numbers))
  }

  private func claimsHeld(against acceptance: MessageAcceptance, key: [UInt8]) throws -> [DuplicateClaim] {
    try acceptance.decisions.compactMap { decision in
      guard let user = try userNumber(decision.user, in: acceptance.appMode) else { return nil }
      return try connection.first(
        """
        SELECT m.id FROM dedupe d JOIN message m ON m.seq = d.msg
        WHERE d.am = ? AND d.key = ? AND d.user = ? AND d.until >= ? AND d.msg <> ?
        """,
        .integer(acceptance.appMode.rawValue), .blob(key), .integer(user.rawValue),
        .integer(acceptance.createdAt.milliseconds), .integer(acceptance.identity.number.rawValue)
      ) { DuplicateClaim(user: decision.user, heldBy: MessageID(rawValue: $0.text(0))) }
    }
  }

  /// One conditional upsert: a claim whose window is over is taken over, one's own is no duplicate.
  private func claim(
    _ key: [UInt8], for user: UserNumber, by message: MessageNumber, in appMode: AppMode, now: WallTime,
    window: Duration
  ) throws {
    let taken = try connection.run(
      """
      INSERT INTO dedupe (am, key, user, msg, until) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (am, key, user) DO UPDATE SET msg = excluded.msg, until = excluded.until
      WHERE until < ?6 OR msg = excluded.msg
      """,
      .integer(appMode.rawValue), .blob(key), .integer(user.rawValue), .integer(message.rawValue),
      .integer(now.advanced(by: window).milliseconds), .integer(now.milliseconds))
    guard taken == 1 else { throw StorageError(.corrupt, "A dedupe claim appeared inside its own transaction.") }
  }

  private func insertMessage(_ acceptance: MessageAcceptance, dedupeKey: [UInt8]?) throws {
    let seat = StorageKeys.Seat(data: acceptance.identity.number)
    try connection.run(
      """
      INSERT INTO message (seq, am, id, type, version, category, class, source, request, created, expires, dedupe, data)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(acceptance.identity.number.rawValue), .integer(acceptance.appMode.rawValue),
      .text(acceptance.identity.id.rawValue), .text(acceptance.type), .integer(Int64(acceptance.typeVersion)),
      SQLiteValue(acceptance.category), .text(acceptance.frequencyClass), .text(acceptance.source),
      SQLiteValue(acceptance.requestID), .integer(acceptance.createdAt.milliseconds),
      SQLiteValue(acceptance.lifetime?.column), SQLiteValue(dedupeKey),
      .blob(try keys.seal(acceptance.content, at: seat)))
  }

  private func insertDecision(
    _ decision: AcceptedDecision, of acceptance: MessageAcceptance, user: UserNumber, ordinal: Int
  ) throws {
    let appMode = SQLiteValue.integer(acceptance.appMode.rawValue)
    let message = SQLiteValue.integer(acceptance.identity.number.rawValue)
    try connection.run(
      "INSERT INTO decision (am, msg, user, ord, reason, steps) VALUES (?, ?, ?, ?, ?, ?)", appMode, message,
      .integer(user.rawValue), .integer(Int64(ordinal)), SQLiteValue(decision.reason?.rawValue),
      .text(StepsColumn.encode(decision.steps)))
    try connection.run(
      "INSERT INTO single (am, user, msg) VALUES (?, ?, ?)", appMode, .integer(user.rawValue), message)
  }

  private func insertDeliveries(
    of acceptance: MessageAcceptance, users: [UserID: UserNumber]
  ) throws -> [OutgoingDelivery] {
    var outgoing: [OutgoingDelivery] = []
    for (ordinal, delivery) in acceptance.deliveries.enumerated() {
      guard let user = users[delivery.user] else {
        throw StorageError(.invalidCall, "Each delivery belongs to a decided user.")
      }
      let key = DeliveryKey(message: acceptance.identity.number, device: delivery.device)
      let ready = try readiness(of: delivery, key: key, in: acceptance)
      let state: DeliveryState =
        delivery.push == nil || (acceptance.start == .marked && ready == nil)
        ? .suppressed : acceptance.start == .marked ? .sending : .queued
      let reason = state == .suppressed ? delivery.reason ?? .deviceUnregistered : delivery.reason
      try insert(delivery, key: key, user: user, state: state, reason: reason, ordinal: ordinal, of: acceptance)
      if state == .sending, let ready { outgoing.append(ready) }
    }
    try mark(outgoing.map(\.key), in: acceptance.appMode, at: acceptance.createdAt)
    return outgoing
  }

  private func readiness(
    of delivery: AcceptedDelivery, key: DeliveryKey, in acceptance: MessageAcceptance
  ) throws -> OutgoingDelivery? {
    guard let push = delivery.push, let device = try device(key.device, in: acceptance.appMode),
      device.user == delivery.user
    else { return nil }
    return try outgoing(
      push, key: key, to: device, of: delivery.user, messageID: acceptance.identity.id,
      lifetime: acceptance.lifetime, in: acceptance.appMode)
  }

  func outgoing(
    _ push: OutgoingPush, key: DeliveryKey, to device: DeviceRecord, of user: UserID, messageID: MessageID,
    lifetime: PushLifetime?, in appMode: AppMode
  ) throws -> OutgoingDelivery? {
    guard let token = device.token else { return nil }
    return OutgoingDelivery(
      appMode: appMode, key: key, id: try keys.deliveryID(for: key), messageID: messageID, user: user,
      apnsID: try keys.apnsID(for: key), token: token, topic: device.topic, environment: device.environment,
      environmentIsLearned: device.environmentIsLearned, push: push, lifetime: lifetime)
  }

  private func insert(
    _ delivery: AcceptedDelivery, key: DeliveryKey, user: UserNumber, state: DeliveryState, reason: ReasonCode?,
    ordinal: Int, of acceptance: MessageAcceptance
  ) throws {
    let appMode = SQLiteValue.integer(acceptance.appMode.rawValue)
    let message = SQLiteValue.integer(key.message.rawValue)
    let device = SQLiteValue.integer(key.device.rawValue)
    try connection.run(
      "INSERT INTO delivery (am, msg, user, dev, state, reason, at, n) VALUES (?, ?, ?, ?, ?, ?, ?, 0)", appMode,
      message, .integer(user.rawValue), device, .integer(state.column), SQLiteValue(reason?.rawValue),
      .integer(acceptance.createdAt.milliseconds))
    try connection.run(
      "INSERT INTO delivery_steps (am, msg, user, dev, ord, decided) VALUES (?, ?, ?, ?, ?, ?)", appMode, message,
      .integer(user.rawValue), device, .integer(Int64(ordinal)), .text(StepsColumn.encode(delivery.steps)))
    guard let push = delivery.push, !state.isTerminal else { return }
    try connection.run(
      "INSERT INTO outgoing (am, msg, dev, user, marked, due, push) VALUES (?, ?, ?, ?, ?, ?, ?)", appMode, message,
      device, .integer(user.rawValue), SQLiteValue(state == .sending), .integer(acceptance.createdAt.milliseconds),
      .blob(try keys.seal(push.encoded, at: StorageKeys.Seat(push: key))))
  }

  /// Names the exact deliveries that are about to be handed to a transport, one row for each message.
  func mark(_ deliveries: [DeliveryKey], in appMode: AppMode, at now: WallTime) throws {
    for (message, members) in Dictionary(grouping: deliveries, by: \.message) {
      try connection.run(
        """
        INSERT INTO mark (am, msg, sub, at, members)
        VALUES (?1, ?2, (SELECT coalesce(max(sub), 0) + 1 FROM mark WHERE am = ?1 AND msg = ?2), ?3, ?4)
        """,
        .integer(appMode.rawValue), .integer(message.rawValue), .integer(now.milliseconds),
        .blob(MarkMembers.encode(members.map(\.device))))
    }
  }
}
