import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func recordOutcomes(_ outcomes: [DeliveryOutcome]) throws -> [OutcomeResult] {
    try outcomes.check()
    var touched: Set<MessageNumber> = []
    var known: [MessageNumber: Subject] = [:]
    let results = try outcomes.map { outcome in
      let result = try record(outcome, known: &known)
      if result.isRecorded { touched.insert(outcome.key.message) }
      return result
    }
    for message in touched {
      if let appMode = known[message]?.appMode { try dropFinishedMarks(of: message, in: appMode) }
    }
    return results
  }

  /// What all deliveries of a message have in common.
  private struct Subject {
    let appMode: AppMode
    let frequencyClass: String
    let created: WallTime
  }

  private func subject(of message: MessageNumber, known: inout [MessageNumber: Subject]) throws -> Subject? {
    if let subject = known[message] { return subject }
    known[message] = try connection.first(
      "SELECT am, class, created FROM message WHERE seq = ?", .integer(message.rawValue)
    ) { row in
      Subject(
        appMode: AppMode(rawValue: row.integer(0)), frequencyClass: row.text(1),
        created: WallTime(milliseconds: row.integer(2)))
    }
    return known[message]
  }

  private func record(
    _ outcome: DeliveryOutcome, known: inout [MessageNumber: Subject]
  ) throws -> OutcomeResult {
    let key = outcome.key
    let unrecorded = OutcomeResult(key: key, isRecorded: false, hygiene: .none)
    guard let subject = try subject(of: key.message, known: &known) else { return unrecorded }
    let appMode = subject.appMode
    let row = try connection.first(
      "SELECT user, marked FROM outgoing WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue)
    ) { (user: UserNumber(rawValue: $0.integer(0)), isMarked: $0.integer(1) != 0) }
    guard let row, row.isMarked || outcome.retryAt == nil else { return unrecorded }
    let device = try device(key.device, in: appMode)
    let hygiene = device.map { TokenHygiene.decide(after: outcome, on: $0) } ?? .none
    if let device { try apply(hygiene, to: device, in: appMode, at: outcome.at) }
    for attempt in outcome.attempts { try insert(attempt, of: key, user: row.user, in: appMode) }
    if let step = hygiene.step(at: outcome.at) {
      try connection.run(
        "UPDATE delivery_steps SET concluded = ? WHERE am = ? AND msg = ? AND user = ? AND dev = ?",
        .text(StepsColumn.encode([step])), .integer(appMode.rawValue), .integer(key.message.rawValue),
        .integer(row.user.rawValue), .integer(key.device.rawValue))
    }
    if let due = outcome.retryAt {
      try postpone(outcome, of: row.user, in: appMode, until: due)
    } else {
      try conclude(
        key, of: row.user, in: appMode, outcome.state, outcome.reason, at: outcome.at,
        lastAttempt: outcome.attempts.last?.number ?? 0)
    }
    return OutcomeResult(
      key: key, isRecorded: true, hygiene: hygiene,
      subject: DeliverySubject(
        frequencyClass: subject.frequencyClass, platform: device?.platform, since: subject.created))
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
      "UPDATE device SET status = ?, reason = ?, inactive = ? WHERE am = ? AND user = ? AND dev = ?",
      SQLiteValue(active), SQLiteValue(reason?.rawValue), SQLiteValue(active ? nil : now.milliseconds),
      .integer(appMode.rawValue), .integer(owner.rawValue), .integer(device.number.rawValue))
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

  func conclude(
    _ key: DeliveryKey, of user: UserNumber, in appMode: AppMode, _ state: DeliveryState, _ reason: ReasonCode?,
    at now: WallTime, lastAttempt: Int
  ) throws {
    try setState(key, of: user, in: appMode, state, reason, at: now, lastAttempt: lastAttempt)
    try connection.run(
      "DELETE FROM outgoing WHERE am = ? AND msg = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(key.message.rawValue), .integer(key.device.rawValue))
    if lastAttempt == 0 { try releaseClaim(of: user, message: key.message, in: appMode) }
  }

  /// - Parameter lastAttempt: the number of the last request, 0 when there was none this time.
  func setState(
    _ key: DeliveryKey, of user: UserNumber, in appMode: AppMode, _ state: DeliveryState, _ reason: ReasonCode?,
    at now: WallTime, lastAttempt: Int
  ) throws {
    try connection.run(
      """
      UPDATE delivery SET state = ?, reason = ?, at = ?, n = max(n, ?)
      WHERE am = ? AND msg = ? AND user = ? AND dev = ?
      """,
      .integer(state.column), SQLiteValue(reason?.rawValue), .integer(now.milliseconds),
      .integer(Int64(lastAttempt)), .integer(appMode.rawValue), .integer(key.message.rawValue),
      .integer(user.rawValue), .integer(key.device.rawValue))
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
