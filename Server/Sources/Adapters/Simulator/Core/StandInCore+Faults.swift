import PabalPrimitives

extension StandInCore {
  /// Replaces all fault rules; their counters start from zero. What the old ones still hold is let go: stream limits,
  /// slow reading and silence.
  @discardableResult
  package mutating func setFaults(_ rules: [FaultRule], seed: UInt64) -> [StandInAction] {
    faults = FaultBook(rules: rules, seed: seed)
    faultRules = rules
    var actions: [StandInAction] = []
    for id in connections.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard var connection = connections[id] else { continue }
      if connection.isReadSlowly { actions.append(.readRate(id, bytesPerSecond: nil)) }
      if connection.isLimitedByFault {
        connection.streamLimit = connection.isKnown ? self.rules.streamsAfterToken : self.rules.streamsBeforeToken
        actions.append(.streamLimit(id, connection.streamLimit))
      }
      (connection.isReadSlowly, connection.isLimitedByFault, connection.silentUntil) = (false, false, nil)
      connections[id] = connection
    }
    return actions
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
      connections[id]?.isLimitedByFault = true
      actions.append(.streamLimit(id, limit))
    case .halfReply:
      actions = Self.halved(settle(request, receipt, limitBefore: limitBefore, faultRule: index))
    case .slowRead(let rate):
      actions = readSlowly(id, rate) + settle(request, receipt, limitBefore: limitBefore, faultRule: index)
    case .resetAfterHeaders(let code):
      // The rule came between the headers and the body.
      statistics.resets += 1
      actions = unanswered(request, receipt, index, .beforeTaken) + [.reset(id, stream: request.stream, code: code)]
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
    return delayed(actions, by: rule.delay, on: id)
  }

  private mutating func delayed(
    _ actions: [StandInAction], by milliseconds: Int, on id: StandInConnectionID
  ) -> [StandInAction] {
    guard milliseconds > 0 else { return actions }
    let (end, known) = (clock.monotonic.advanced(by: .milliseconds(milliseconds)), connections[id]?.delayedUntil)
    connections[id]?.delayedUntil = max(known ?? .zero, end)
    return [.later(milliseconds: milliseconds, actions)]
  }

  private mutating func readSlowly(_ id: StandInConnectionID, _ bytesPerSecond: Int) -> [StandInAction] {
    guard connections[id]?.isReadSlowly == false else { return [] }
    connections[id]?.isReadSlowly = true
    return [.readRate(id, bytesPerSecond: bytesPerSecond)]
  }

  private static func halved(_ actions: [StandInAction]) -> [StandInAction] {
    actions.map { action in
      switch action {
      case .reply(let id, let stream, let reply): .halfReply(id, stream: stream, reply.half)
      case .later(let milliseconds, let inner): .later(milliseconds: milliseconds, halved(inner))
      default: action
      }
    }
  }

  // MARK: Before the body

  /// Whether `headersReceived` has to be called, because a rule acts before a request is whole.
  package var watchesHeaders: Bool { faults.actsOnHeaders }

  /// The header section of a request is in; `handle` follows with the whole of it, unless the stream ends before.
  package mutating func headersReceived(_ request: StandInRequest) -> [StandInAction] {
    let id = request.connection
    guard faults.actsOnHeaders, let connection = connections[id], request.stream <= connection.lastStream else {
      return []
    }
    guard let (index, rule) = faultRule(for: request, connection) else {
      connections[id]?.decided[request.stream] = .noRule
      return []
    }
    connections[id]?.decided[request.stream] = .rule(index: index, rule)
    switch rule.effect {
    case .slowRead(let rate): return readSlowly(id, rate)
    case .resetAfterHeaders(let code):
      statistics.requests += 1
      statistics.resets += 1
      connections[id]?.decided[request.stream] = .over
      connections[id]?.highestStream = max(connection.highestStream, request.stream)
      connections[id]?.lastActivity = clock.now
      log(request, nil, at: clock.now, nil, faultRule: index, taken: false)
      return delayed([.reset(id, stream: request.stream, code: code)], by: rule.delay, on: id)
    default: return []
    }
  }

  /// A stream has ended, whole or not.
  package mutating func streamClosed(_ stream: Int32, on id: StandInConnectionID) {
    connections[id]?.decided[stream] = nil
  }

  /// What the rules say of a whole request, or said when its headers came.
  mutating func faultDecision(_ request: StandInRequest, _ connection: Connection) -> FaultDecision {
    if !connection.decided.isEmpty, let decision = connection.decided[request.stream] {
      if case .over = decision { return .over }
      connections[request.connection]?.decided[request.stream] = nil
      return decision
    }
    guard !faults.isEmpty, let (index, rule) = faultRule(for: request, connection) else { return .noRule }
    return .rule(index: index, rule)
  }

  private mutating func faultRule(
    for request: StandInRequest, _ connection: Connection
  ) -> (index: Int, rule: FaultRule)? {
    let path = request.headers.first { $0.name == ":path" }?.value ?? ""
    let token = DevicePath(path).token.flatMap(DeviceTokenText.bytes)
    let device = token.flatMap { indexByToken[$0] }.map { devices[$0].id }
    return faults.rule(
      for: FaultBook.Facts(
        connection: request.connection.rawValue, environment: connection.environment, path: path, token: token,
        device: device))
  }

  /// A request that gets no reply, taken or not.
  private mutating func unanswered(
    _ request: StandInRequest, _ receipt: Receipt, _ index: Int, _ moment: FaultRule.Moment
  ) -> [StandInAction] {
    let isTaken = moment == .afterTaken && receipt.isGood
    let wakes = isTaken ? take(request, receipt) : []
    if let highest = connections[request.connection]?.highestStream {
      connections[request.connection]?.highestStream = max(highest, request.stream)
      connections[request.connection]?.lastActivity = receipt.at
    }
    log(request, receipt.device, at: receipt.at, nil, faultRule: index, taken: isTaken)
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
      log(request, receipt.device, at: receipt.at, nil, faultRule: index, taken: false)
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
