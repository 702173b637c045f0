import PabalPrimitives

extension StandInCore {
  /// Replaces all fault rules; their counters start from zero.
  package mutating func setFaults(_ rules: [FaultRule], seed: UInt64) {
    faults = FaultBook(rules: rules, seed: seed)
    faultRules = rules
  }

  /// The rules in force, each with how often it has acted.
  package var activeFaults: [(rule: FaultRule, fired: Int)] {
    Array(zip(faultRules, faults.fired))
  }

  package var faultSeed: UInt64 { faults.seed }

  mutating func apply(
    _ rule: FaultRule, index: Int, to request: StandInRequest, _ receipt: Receipt, limitBefore: Int
  ) -> [StandInAction] {
    let id = request.connection
    if rule.delay > 0 {
      let (end, known) = (clock.monotonic.advanced(by: .milliseconds(rule.delay)), connections[id]?.delayedUntil)
      connections[id]?.delayedUntil = max(known ?? .zero, end)
    }
    var actions: [StandInAction]
    switch rule.effect {
    case .usual:
      actions = settle(request, receipt, limitBefore: limitBefore, faultRule: index)
    case .status(let status, let reason, let timestamp, let taken):
      let outcome = Outcome(status: status, reason: reason, timestamp: timestamp, detail: nil)
      let wakes = taken ? take(request, receipt) : []
      actions =
        answer(
          request, receipt, outcome, limitBefore: limitBefore, faultRule: index, taken: taken && receipt.isGood) + wakes
    case .streamLimit(let limit):
      actions = settle(request, receipt, limitBefore: limitBefore, faultRule: index)
      connections[id]?.streamLimit = limit
      actions.append(.streamLimit(id, limit))
    case .silence(let milliseconds):
      connections[id]?.silentUntil = clock.monotonic.advanced(by: .milliseconds(milliseconds))
      actions = settle(request, receipt, limitBefore: limitBefore, faultRule: index)
    case .reset(let code, let moment):
      statistics.resets += 1
      actions = unanswered(request, receipt, index, moment) + [.reset(id, stream: request.stream, code: code)]
    case .drop(let moment):
      statistics.drops += 1
      actions = unanswered(request, receipt, index, moment) + [.abort(id)]
      // Nothing that comes later on a cut connection is looked at.
      connections[id]?.lastStream = 0
    case .goaway(let lastStream, let debug, let close):
      actions = goAway(request, receipt, index, lastStream, debug, close, limitBefore)
    }
    return rule.delay > 0 ? [.later(milliseconds: rule.delay, actions)] : actions
  }

  /// A request that gets no reply, taken or not.
  private mutating func unanswered(
    _ request: StandInRequest, _ receipt: Receipt, _ index: Int, _ moment: FaultRule.Moment
  ) -> [StandInAction] {
    let isTaken = moment == .afterTaken && receipt.isGood
    let wakes = isTaken ? take(request, receipt) : []
    if let highest = connections[request.connection]?.highestStream {
      connections[request.connection]?.highestStream = max(highest, request.stream)
    }
    log(request, receipt, nil, faultRule: index, taken: isTaken)
    return wakes
  }

  private mutating func goAway(
    _ request: StandInRequest, _ receipt: Receipt, _ index: Int, _ lastStream: FaultRule.LastStream,
    _ debug: [UInt8], _ close: FaultRule.Closing, _ limitBefore: Int
  ) -> [StandInAction] {
    let id = request.connection
    statistics.goaways += 1
    var actions: [StandInAction] = []
    let last: Int32
    let highest = connections[id]?.highestStream ?? 0
    // Streams whose replies wait were worked on: to call them unprocessed would be a lie.
    let lastStream = lastStream == .none && hasRepliesWaiting(id) ? .accepted : lastStream
    if lastStream == .all || (lastStream == .accepted && request.stream < highest) {
      // A stream below one that was worked on cannot be named unprocessed.
      actions = settle(request, receipt, limitBefore: limitBefore, faultRule: index)
      last = max(highest, request.stream)
    } else {
      last = lastStream == .none ? 0 : highest
      log(request, receipt, nil, faultRule: index, taken: false)
    }
    connections[id]?.lastStream = last
    actions.append(.goaway(id, lastStream: last, debug: debug))
    switch close {
    case .now: actions.append(.abort(id))
    case .drain: actions.append(.close(id))
    case .never: break
    }
    return actions
  }

  private func hasRepliesWaiting(_ id: StandInConnectionID) -> Bool {
    guard let connection = connections[id] else { return false }
    let now = clock.monotonic
    return max(connection.silentUntil ?? .zero, connection.delayedUntil ?? .zero) > now
  }
}
