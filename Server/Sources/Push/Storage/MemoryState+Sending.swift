import PabalModel
import PabalPrimitives

extension MemoryState {
  mutating func accept(_ acceptance: MessageAcceptance) throws(StorageError) -> AcceptanceResult {
    try acceptance.check()
    let appMode = acceptance.appMode
    let users = Set(acceptance.decisions.map { UserKey(appMode: appMode, user: $0.user) })
    let news = changes.dropFirst(Int(clamping: acceptance.seenChange.rawValue))
    if news.contains(where: { users.contains($0.user) }) { return .stale }
    let duplicates = claimsHeld(against: acceptance)
    if !duplicates.isEmpty { return .duplicate(duplicates) }
    for decision in acceptance.decisions {
      _ = see(decision.user, in: appMode)
      if let dedupe = acceptance.dedupe, acceptance.keepsClaim(of: decision) {
        let user = UserKey(appMode: appMode, user: decision.user)
        claims[ClaimKey(user: user, key: dedupe.key)] = Claim(
          message: acceptance.identity.number, until: acceptance.createdAt.advanced(by: dedupe.window))
      }
    }
    messages[acceptance.identity.number] = Message(acceptance: acceptance)
    for delivery in acceptance.deliveries { insert(delivery, of: acceptance) }
    guard acceptance.start == .marked else { return .accepted([]) }
    let marked = (deliveryOrder[acceptance.identity.number] ?? []).filter { deliveries[$0]?.markedAt != nil }
    for key in marked where outgoing(key) == nil {
      conclude(key, .suppressed, .deviceUnregistered, at: acceptance.createdAt)
    }
    return .accepted(marked.compactMap { outgoing($0) })
  }

  private func claimsHeld(against acceptance: MessageAcceptance) -> [DuplicateClaim] {
    guard let dedupe = acceptance.dedupe else { return [] }
    return acceptance.decisions.compactMap { decision in
      let user = UserKey(appMode: acceptance.appMode, user: decision.user)
      guard let claim = claims[ClaimKey(user: user, key: dedupe.key)], claim.until >= acceptance.createdAt,
        claim.message != acceptance.identity.number, let holder = messages[claim.message]
      else { return nil }
      return DuplicateClaim(user: decision.user, heldBy: holder.acceptance.identity.id)
    }
  }

  private mutating func insert(_ delivery: AcceptedDelivery, of acceptance: MessageAcceptance) {
    let key = DeliveryKey(message: acceptance.identity.number, device: delivery.device)
    let isMarked = acceptance.start == .marked && delivery.push != nil
    let state: DeliveryState = delivery.push == nil ? .suppressed : isMarked ? .sending : .queued
    let record = DeliveryRecord(
      key: key, id: Self.deliveryID(for: key), messageID: acceptance.identity.id, user: delivery.user,
      device: Self.deviceID(for: delivery.device), state: state, reason: delivery.reason,
      createdAt: acceptance.createdAt, updatedAt: acceptance.createdAt, attempts: [], events: [])
    deliveries[key] = DeliveryRow(
      record: record, push: delivery.push, markedAt: isMarked ? acceptance.createdAt : nil,
      decided: delivery.steps)
    deliveryOrder[acceptance.identity.number, default: []].append(key)
  }

  /// A delivery that may be sent: it has a push, and the device is there, active and still the user's.
  private func outgoing(_ key: DeliveryKey) -> OutgoingDelivery? {
    guard let delivery = deliveries[key], let push = delivery.push, let message = messages[key.message],
      let device = devices[key.device]?.record, device.user == delivery.record.user, let token = device.token
    else { return nil }
    return OutgoingDelivery(
      appMode: message.acceptance.appMode, key: key, id: delivery.record.id,
      messageID: message.acceptance.identity.id, user: delivery.record.user, apnsID: Self.apnsID(for: key),
      token: token, topic: device.topic, environment: device.environment,
      environmentIsLearned: device.environmentIsLearned, push: push,
      lifetime: message.acceptance.lifetime,
      attempts: delivery.record.attempts.last?.number ?? 0, postponements: delivery.postponements)
  }

  mutating func claimQueued(limit: Int, at now: WallTime) -> QueueClaim {
    func due(_ key: DeliveryKey) -> WallTime { deliveries[key]?.due ?? deliveries[key]?.record.createdAt ?? now }
    let waiting = deliveries.values.filter { $0.record.state == .queued || $0.record.state == .retrying }
      .map(\.record.key).sorted { (due($0), $0.message, $0.device) < (due($1), $1.message, $1.device) }
    var claim = QueueClaim(nextDue: waiting.dropFirst(limit).first.map(due))
    for key in waiting.prefix(limit) {
      guard due(key) <= now else {
        claim.nextDue = due(key)
        break
      }
      if let (state, reason) = obstacle(key, at: now) {
        conclude(key, state, reason, at: now)
        if let subject = subject(of: key) {
          claim.ended.append(QueueClaim.Ended(key: key, state: state, reason: reason, subject: subject))
        }
      } else if let delivery = outgoing(key) {
        deliveries[key]?.record.state = .sending
        deliveries[key]?.record.reason = nil
        deliveries[key]?.record.updatedAt = now
        deliveries[key]?.markedAt = now
        deliveries[key]?.due = nil
        claim.deliveries.append(delivery)
      }
    }
    return claim
  }

  private func subject(of key: DeliveryKey) -> DeliverySubject? {
    messages[key.message].map { message in
      DeliverySubject(
        frequencyClass: message.acceptance.frequencyClass, platform: devices[key.device]?.record.platform,
        since: message.acceptance.createdAt)
    }
  }

  /// Why a waiting delivery may not leave any more, `nil` if it may.
  private func obstacle(_ key: DeliveryKey, at now: WallTime) -> (DeliveryState, ReasonCode)? {
    guard let message = messages[key.message]?.acceptance, let user = deliveries[key]?.record.user else { return nil }
    if message.lifetime?.isOver(at: now) == true { return (.expired, .timeToLiveElapsed) }
    let device = devices[key.device]?.record
    let preference = message.category.flatMap { preferences(of: user, in: message.appMode)[$0] }
    return device.obstacle(for: user, preference: preference).map { (.suppressed, $0) }
  }

  private mutating func conclude(_ key: DeliveryKey, _ state: DeliveryState, _ reason: ReasonCode?, at now: WallTime) {
    deliveries[key]?.record.state = state
    deliveries[key]?.record.reason = reason
    deliveries[key]?.record.updatedAt = now
    deliveries[key]?.push = nil
    deliveries[key]?.markedAt = nil
    releaseClaim(after: key)
  }

  /// Gives the dedupe claim back when the user's deliveries all ended without an attempt, for curable reasons.
  private mutating func releaseClaim(after key: DeliveryKey) {
    guard let message = messages[key.message]?.acceptance, let dedupe = message.dedupe,
      let user = deliveries[key]?.record.user
    else { return }
    let all = (deliveryOrder[key.message] ?? []).compactMap { deliveries[$0]?.record }.filter { $0.user == user }
    guard all.allSatisfy({ $0.attempts.isEmpty && $0.state.isTerminal && $0.reason?.releasesDedupeClaim == true })
    else { return }
    let claim = ClaimKey(user: UserKey(appMode: message.appMode, user: user), key: dedupe.key)
    if claims[claim]?.message == key.message { claims[claim] = nil }
  }

  func openMarks() -> [OpenMark] {
    deliveries.values.compactMap { delivery in
      guard let markedAt = delivery.markedAt, let message = messages[delivery.record.key.message] else { return nil }
      let mayRepeat = delivery.push?.collapseID != nil && message.acceptance.lifetime != .attemptOnce
      let repeatable = mayRepeat ? outgoing(delivery.record.key) : nil
      return OpenMark(
        appMode: message.acceptance.appMode, key: delivery.record.key, id: delivery.record.id, markedAt: markedAt,
        repeatable: repeatable)
    }.sorted { ($0.key.message, $0.key.device) < ($1.key.message, $1.key.device) }
  }

  mutating func recordOutcomes(_ outcomes: [DeliveryOutcome]) throws(StorageError) -> [OutcomeResult] {
    try outcomes.check()
    return outcomes.map { outcome in
      guard let delivery = deliveries[outcome.key], !delivery.record.state.isTerminal,
        outcome.retryAt == nil || delivery.markedAt != nil
      else {
        return OutcomeResult(key: outcome.key, isRecorded: false, hygiene: .none)
      }
      let device = devices[outcome.key.device]?.record
      let hygiene = device.map { TokenHygiene.decide(after: outcome, on: $0) } ?? .none
      apply(hygiene, to: outcome.key.device, at: outcome.at)
      deliveries[outcome.key]?.record.attempts += outcome.attempts
      if let step = hygiene.step(at: outcome.at) { deliveries[outcome.key]?.concluded.append(step) }
      if let retryAt = outcome.retryAt {
        postpone(outcome.key, until: retryAt, outcome.reason, at: outcome.at)
      } else {
        conclude(outcome.key, outcome.state, outcome.reason, at: outcome.at)
      }
      return OutcomeResult(
        key: outcome.key, isRecorded: true, hygiene: hygiene, subject: subject(of: outcome.key))
    }
  }

  private mutating func postpone(_ key: DeliveryKey, until due: WallTime, _ reason: ReasonCode?, at now: WallTime) {
    deliveries[key]?.record.state = .retrying
    deliveries[key]?.record.reason = reason
    deliveries[key]?.record.updatedAt = now
    deliveries[key]?.markedAt = nil
    deliveries[key]?.due = due
    deliveries[key]?.postponements += 1
  }

  private mutating func apply(_ hygiene: TokenHygiene, to device: DeviceNumber, at now: WallTime) {
    guard let row = devices[device] else { return }
    switch hygiene {
    case .environmentLearned(let environment):
      devices[device]?.record.environment = environment
      devices[device]?.record.environmentIsLearned = true
    case .deactivated(let reason):
      devices[device]?.record.status = .inactive
      devices[device]?.record.inactiveReason = reason
      devices[device]?.record.inactiveSince = now
      noteChange(of: row.record.user, in: row.appMode)
    case .none, .keptReregistered, .keptEnvironmentUnknown, .keptTokenReplaced: break
    }
  }

  mutating func recordEvents(_ events: [DeviceEvent]) throws(StorageError) -> [EventResult] {
    try events.check()
    return events.map { event in
      guard let key = Self.key(of: event.delivery), let delivery = deliveries[key],
        let message = messages[key.message], message.acceptance.appMode == event.appMode,
        delivery.record.messageID == event.message
      else { return .unknownDelivery }
      let eventKey = event.kind.rawValue + " " + event.eventID
      guard deliveries[key]?.eventKeys.insert(eventKey).inserted == true else { return .duplicate }
      deliveries[key]?.record.events.append(
        EventRecord(
          kind: event.kind, at: event.clampedTime(acceptedAt: delivery.record.createdAt),
          receivedAt: event.receivedAt, action: event.action, text: event.text, name: event.name, value: event.value))
      if event.revivesDevice, let device = devices[key.device], device.record.status == .inactive {
        devices[key.device]?.record.status = .active
        devices[key.device]?.record.inactiveReason = nil
        devices[key.device]?.record.inactiveSince = nil
        noteChange(of: device.record.user, in: device.appMode)
      }
      let openings = deliveries[key]?.record.events.count { $0.kind == .opened } ?? 0
      guard event.kind == .opened, openings == 1 else { return .accepted }
      return .opened(
        event.opening(acceptedAt: delivery.record.createdAt, frequencyClass: message.acceptance.frequencyClass))
    }
  }
}
