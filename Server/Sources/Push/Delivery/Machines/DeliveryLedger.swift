internal import PabalModel
package import PabalPrimitives

/// The life of every push from admission to its one outcome.
///
/// A push is *unsent* until the kernel has taken a byte of a TLS record that holds its HEADERS. Unsent pushes, and
/// those that the peer says it did not process, go back into the line freely with the same `apns-id`. A push that was
/// written and has no reply is *ambiguous*: sent once more if a repeat is harmless (`repeatsUnknown`), else it ends
/// `unknown`. What the provider answered decides the rest. Exactly one `Ending` leaves here for each admission.
package struct DeliveryLedger: Sendable {
  private let rules: DeliveryRules
  private var entries: [LedgerEntry] = []
  private var freeSlots: [Int] = []
  private var line = WaitingLine()
  private var retries: RetryMachine
  /// The last failure of pushes that had one; most never have.
  private var causes: [PushTag: ReasonCode] = [:]
  private var nextDeadline: UInt64 = .max
  private let grainNanoseconds: UInt64
  private let requestNanoseconds: UInt64
  private var lastScan = Instant.zero
  private let planted: PlantedBug?
  private var acceptedEver = 0
  private var isReachable = false

  package init(rules: DeliveryRules, seed: UInt64, planted: PlantedBug? = nil) {
    self.rules = rules
    self.planted = planted
    grainNanoseconds = rules.deadlineGrain.nanosecondsForward
    requestNanoseconds = rules.requestTimeout.nanosecondsForward
    retries = RetryMachine(schedule: rules.schedule, seed: seed)
  }

  /// Pushes without an outcome.
  package private(set) var open = 0
  /// Slots in use or used before; a slot number is below this.
  package var slots: Int { entries.count }
  /// Pushes that wait for a permit, 0 if none of them may be sent now. Some may have ended since; an upper bound.
  ///
  /// `mutating`, as `nextWake` is: who keeps the ledger in an object would copy it for a look that does not change it.
  package mutating func waiting(now: Instant) -> Int { firstWaiting(now: now) == nil ? 0 : line.count }

  package var nextWake: Instant? {
    mutating get {
      guard nextDeadline != .max else { return retries.nextWake }
      let at = max(Instant(nanoseconds: nextDeadline), lastScan.advanced(byNanoseconds: grainNanoseconds))
      return min(retries.nextWake ?? at, at)
    }
  }

  /// Opens an entry for a push. Its tag names it until the entry has ended, and never another push after that.
  package mutating func admit(_ terms: DeliveryTerms) -> PushTag {
    let slot: Int
    if let reused = freeSlots.popLast() {
      slot = reused
    } else {
      slot = entries.count
      entries.append(LedgerEntry())
    }
    entries[slot].begin(terms)
    noteDeadline(entries[slot].deadline)
    open += 1
    let tag = PushTag(slot: slot, generation: entries[slot].generation)
    line.append(tag)
    return tag
  }

  /// The push to send next. Those that ended while waiting are dropped on the way, and those whose time is over:
  /// the next look at the deadlines ends them.
  package mutating func firstWaiting(now: Instant) -> PushTag? {
    while let tag = line.first {
      if isCurrent(tag), entries[tag.slot].phase == .waiting, entries[tag.slot].deadline > now.nanoseconds {
        return tag
      }
      line.removeFirst()
    }
    return nil
  }

  /// Takes what `firstWaiting` returned; `submitted` follows before any other event.
  package mutating func takeFirst() {
    line.removeFirst()
  }

  /// Every push without an outcome, by slot.
  package var openTags: [PushTag] {
    entries.indices.filter { entries[$0].phase != .free }
      .map { PushTag(slot: $0, generation: entries[$0].generation) }
  }

  /// Whether the push of this tag has not ended.
  package func isOpen(_ tag: PushTag) -> Bool {
    isCurrent(tag) && entries[tag.slot].phase != .free
  }

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    switch event {
    case .submitted(let tags, let connection):
      submit(tags, on: connection, now: now)
      return []
    case .written(let tags, let connection):
      for tag in tags where isOut(tag, on: connection) { entries[tag.slot].write() }
      return []
    case .accepted(let tags):
      return accept(tags)
    case .refused(let tag, let refusal):
      return refuse(tag, refusal, now: now)
    case .givenBack(let tags, let connection):
      return giveBack(tags.filter { isOut($0, on: connection) }, now: now)
    case .lost(let tags, let connection):
      return lose(tags.filter { isOut($0, on: connection) }, now: now)
    case .reachability(let isReachable):
      self.isReachable = isReachable
      return []
    case .unreachable:
      return endWaiting(.expired, .providerUnreachable, now: now)
    case .credentialRefused(let reason):
      return endWaiting(.canceled, reason, now: now)
    case .cancel(let tags, let grace):
      return cancel(tags, grace: grace, now: now)
    case .wake:
      return wake(now: now)
    }
  }
}

// MARK: - Answers

extension DeliveryLedger {
  private mutating func submit(_ tags: [PushTag], on connection: ConnectionKey, now: Instant) {
    let deadline = now.advanced(byNanoseconds: requestNanoseconds).nanoseconds
    for tag in tags {
      entries[tag.slot].submit(on: connection, deadline: deadline, now: now)
    }
    noteDeadline(deadline)
  }

  private mutating func accept(_ tags: [PushTag]) -> [Action] {
    var endings: [DeliveryEnding] = []
    endings.reserveCapacity(tags.count)
    for tag in tags {
      if let ending = accept(tag) { endings.append(ending) }
    }
    return finished(endings)
  }

  private mutating func accept(_ tag: PushTag) -> DeliveryEnding? {
    guard isOut(tag) else { return nil }
    acceptedEver += 1
    if planted == .resendAccepted, acceptedEver % 31 == 0 {
      entries[tag.slot].phase = .waiting
      line.putBack([tag])
      return nil
    }
    let ending = end(tag, .accepted, nil)
    return planted == .loseOutcome && acceptedEver % 31 == 0 ? nil : ending
  }

  private mutating func refuse(_ tag: PushTag, _ refusal: DeliveryRefusal, now: Instant) -> [Action] {
    guard isOut(tag) else { return [] }
    entries[tag.slot].write()
    switch refusal.remedy {
    case .none:
      return finished([end(tag, .rejected, refusal.reason)])
    case .freshCredential:
      guard !entries[tag.slot].hasFreshCredential else { return finished([end(tag, .rejected, refusal.reason)]) }
      // Refused for our sake and not for its own: its caller may hand it over again.
      guard !entries[tag.slot].isCanceled else { return finished([end(tag, .expired, refusal.reason)]) }
      entries[tag.slot].hasFreshCredential = true
      entries[tag.slot].phase = .waiting
      causes[tag] = refusal.reason
      line.putBack([tag])
      return []
    case .later(let retryAfter):
      guard !entries[tag.slot].isCanceled else { return finished([end(tag, .expired, refusal.reason)]) }
      causes[tag] = refusal.reason
      let repeats = entries[tag.slot].repeats
      entries[tag.slot].repeats += 1
      return postpone(tag, repeats: Int(repeats), limit: Int(entries[tag.slot].attemptLimit) - 1, retryAfter, now: now)
    }
  }

  private mutating func postpone(
    _ tag: PushTag, repeats: Int, limit: Int, _ retryAfter: Duration?, now: Instant
  ) -> [Action] {
    let deadline = entries[tag.slot].deadline
    entries[tag.slot].phase = .delayed
    let event = RetryMachine.Event.failed(
      tag, repeats: repeats, limit: limit, retryAfter: retryAfter,
      deadline: deadline == .max ? nil : Instant(nanoseconds: deadline))
    var endings: [DeliveryEnding] = []
    for case .giveUp(let tag) in retries.handle(event, now: now) {
      endings.append(end(tag, .expired, causes[tag] ?? .timeToLiveElapsed))
    }
    return finished(endings)
  }
}

// MARK: - Pushes without an answer

extension DeliveryLedger {
  /// Free repeats: at once the first times, then spaced, and not for ever, or a peer that refuses every stream
  /// would keep us spinning.
  private mutating func giveBack(_ tags: [PushTag], now: Instant) -> [Action] {
    var back: [PushTag] = []
    var actions: [Action] = []
    for tag in tags {
      if entries[tag.slot].isCanceled {
        actions += finished([end(tag, .canceled, .interrupted)])
        continue
      }
      let earlier = Int(entries[tag.slot].freeRepeats)
      entries[tag.slot].freeRepeats += 1
      entries[tag.slot].unwrite()
      if earlier < rules.freeRepeatsAtOnce {
        entries[tag.slot].phase = .waiting
        back.append(tag)
      } else {
        causes[tag] = .providerUnreachable
        actions += postpone(
          tag, repeats: earlier - rules.freeRepeatsAtOnce, limit: rules.freeRepeatsMaximum - rules.freeRepeatsAtOnce,
          nil, now: now)
      }
    }
    line.putBack(back)
    return actions
  }

  private mutating func lose(_ tags: [PushTag], now: Instant) -> [Action] {
    var endings: [DeliveryEnding] = []
    var back: [PushTag] = []
    for tag in tags {
      entries[tag.slot].write()
      let mayRepeat = entries[tag.slot].repeatsUnknown && !entries[tag.slot].hasRepeatedUnknown
      if entries[tag.slot].isCanceled {
        endings.append(end(tag, .unknown, .interrupted))
      } else if mayRepeat, now.nanoseconds < entries[tag.slot].deadline {
        entries[tag.slot].hasRepeatedUnknown = true
        entries[tag.slot].phase = .waiting
        causes[tag] = .replyLost
        back.append(tag)
      } else {
        endings.append(end(tag, .unknown, .replyLost))
      }
    }
    line.putBack(back)
    return finished(endings)
  }

  private mutating func endWaiting(
    _ state: DeliveryState, _ reason: ReasonCode, now: Instant
  ) -> [Action] {
    var endings: [DeliveryEnding] = []
    while let tag = firstWaiting(now: now) {
      line.removeFirst()
      endings.append(endUnsent(tag, state, reason))
    }
    return finished(endings)
  }

  private mutating func cancel(_ tags: [PushTag], grace: Duration, now: Instant) -> [Action] {
    var endings: [DeliveryEnding] = []
    var resets: [ConnectionKey: [PushTag]] = [:]
    let limit = now.advanced(by: grace).nanoseconds
    for tag in tags where isOpen(tag) {
      switch entries[tag.slot].phase {
      case .free:
        continue
      case .waiting, .delayed:
        endings.append(endUnsent(tag, .canceled, .interrupted))
      case .submitted:
        resets[entries[tag.slot].connection, default: []].append(tag)
        endings.append(endUnsent(tag, .canceled, .interrupted))
      case .written where grace <= .zero:
        resets[entries[tag.slot].connection, default: []].append(tag)
        endings.append(end(tag, .unknown, .interrupted))
      case .written:
        entries[tag.slot].isCanceled = true
        entries[tag.slot].deadline = min(entries[tag.slot].deadline, limit)
        noteDeadline(limit)
      }
    }
    return finished(endings) + resetActions(resets)
  }

  /// `canceled` means never written: a push whose repeat was waiting has been refused or lost before, and says so.
  private mutating func endUnsent(_ tag: PushTag, _ state: DeliveryState, _ reason: ReasonCode) -> DeliveryEnding {
    if entries[tag.slot].attempts > 0, let cause = causes[tag] {
      return end(tag, cause == .replyLost ? .unknown : .expired, cause)
    }
    guard state == .expired else { return end(tag, state, reason) }
    return end(tag, state, causes[tag] ?? (isReachable ? reason : .providerUnreachable))
  }
}

// MARK: - Time

extension DeliveryLedger {
  private mutating func wake(now: Instant) -> [Action] {
    for case .due(let tags) in retries.handle(.wake, now: now) {
      for tag in tags where isOpen(tag) && entries[tag.slot].phase == .delayed {
        entries[tag.slot].phase = .waiting
        line.append(tag)
      }
    }
    guard nextDeadline <= now.nanoseconds, now >= lastScan.advanced(byNanoseconds: grainNanoseconds) else { return [] }
    return scanDeadlines(now: now)
  }

  private mutating func scanDeadlines(now: Instant) -> [Action] {
    lastScan = now
    nextDeadline = .max
    var endings: [DeliveryEnding] = []
    var resets: [ConnectionKey: [PushTag]] = [:]
    var timedOut: [ConnectionKey: [PushTag]] = [:]
    var unwritten: [ConnectionKey: [PushTag]] = [:]
    for slot in entries.indices where entries[slot].phase != .free {
      let entry = entries[slot]
      let tag = PushTag(slot: slot, generation: entry.generation)
      guard entry.earliestDeadline <= now.nanoseconds else {
        noteDeadline(entry.earliestDeadline)
        continue
      }
      switch entry.phase {
      case .free: continue
      case .waiting, .delayed: endings.append(endUnsent(tag, .expired, .timeToLiveElapsed))
      case .submitted:
        resets[entry.connection, default: []].append(tag)
        if entry.deadline <= now.nanoseconds {
          endings.append(endUnsent(tag, .expired, .timeToLiveElapsed))
        } else {
          unwritten[entry.connection, default: []].append(tag)
        }
      case .written:
        resets[entry.connection, default: []].append(tag)
        timedOut[entry.connection, default: []].append(tag)
      }
    }
    var actions = finished(endings) + resetActions(resets)
    for (connection, tags) in unwritten.sorted(by: { $0.key < $1.key }) {
      actions += giveBack(tags, now: now)
      actions.append(.suspect(connection))
    }
    for (connection, tags) in timedOut.sorted(by: { $0.key < $1.key }) {
      actions += lose(tags, now: now)
      actions.append(.suspect(connection))
    }
    // What goes on after its request's time has its own time still to come.
    for tag in [unwritten, timedOut].flatMap(\.values).joined() where isOpen(tag) {
      noteDeadline(entries[tag.slot].earliestDeadline)
    }
    return actions
  }

  private mutating func noteDeadline(_ deadline: UInt64) {
    nextDeadline = min(nextDeadline, deadline)
  }
}

// MARK: - Entries

extension DeliveryLedger {
  private func isCurrent(_ tag: PushTag) -> Bool {
    tag.slot < entries.count && entries[tag.slot].generation == tag.generation
  }

  private func isOut(_ tag: PushTag) -> Bool {
    guard isCurrent(tag) else { return false }
    let phase = entries[tag.slot].phase
    return phase == .submitted || phase == .written
  }

  private func isOut(_ tag: PushTag, on connection: ConnectionKey) -> Bool {
    isOut(tag) && entries[tag.slot].connection == connection
  }

  private mutating func end(_ tag: PushTag, _ state: DeliveryState, _ reason: ReasonCode?) -> DeliveryEnding {
    let entry = entries[tag.slot]
    if entry.hadTrouble {
      causes[tag] = nil
      if entry.phase == .delayed { _ = retries.handle(.forget(tag), now: lastScan) }
    }
    entries[tag.slot].finish()
    freeSlots.append(tag.slot)
    open -= 1
    if open == 0 { nextDeadline = .max }
    return DeliveryEnding(
      tag: tag, state: state, reason: reason, attempts: Int(entry.attempts),
      started: entry.started == .max ? nil : Instant(nanoseconds: entry.started), connection: entry.connection)
  }

  private func finished(_ endings: [DeliveryEnding]) -> [Action] {
    endings.isEmpty ? [] : [.finished(endings)]
  }

  private func resetActions(_ resets: [ConnectionKey: [PushTag]]) -> [Action] {
    resets.sorted { $0.key < $1.key }.map { .reset($0.value, on: $0.key) }
  }
}
