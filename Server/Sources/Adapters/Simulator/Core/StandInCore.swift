package import PabalPrimitives

/// The stand-in without sockets: requests in, actions out.
///
/// A value that its shell keeps behind one lock. Time and randomness come in from outside, so the same requests in the
/// same order give the same replies, which the simulation over a scripted network rests on.
///
/// A request goes through: the checks in the fixed order of `judge`, then the fault rules, then the device's inbox. A
/// fault rule decides over the reply that the checks had ready; the state of the connection (its team, its key, its
/// stream limit) follows the checks alone.
package struct StandInCore: Sendable {
  /// What a connection has shown so far.
  struct Connection: Sendable {
    let environment: StandInEnvironment
    var streamLimit: Int
    /// Set by the first request with a valid provider token.
    var firstKey: StandInKey?
    /// The `authorization` value that passed all checks last, and what it said.
    var lastAuthorization: String?
    var lastToken: VerifiedToken?
    var highestStream: Int32 = 0
    /// Streams above it are not looked at any more: they were named unprocessed in a GOAWAY.
    var lastStream = Int32.max
    var errors = 0
    /// What the client showed in the TLS handshake; its provider tokens are then not looked at.
    var certificate: StandInCertificate?
    /// Milliseconds since 1970.
    var lastActivity: Int64 = 0
    /// No reply is sent before.
    var silentUntil: Instant?
    /// A fault rule, and no success or error, decides over the stream limit.
    var isLimitedByFault = false
    var isReadSlowly = false
    /// What the fault rules said of requests whose bodies were still to come.
    var decided: [Int32: FaultDecision] = [:]
    /// Until then replies of single streams may still be on their way.
    var delayedUntil: Instant?

    /// Whether the client has shown who it is.
    var isKnown: Bool { firstKey != nil || certificate != nil }
  }

  /// Of a request, before it is whole.
  enum FaultDecision: Sendable {
    case rule(index: Int, FaultRule)
    case noRule
    /// The stream is reset already.
    case over
  }

  /// A provider token whose signature is known to be good.
  struct VerifiedToken: Sendable {
    let key: StandInKey
    let issuedAt: Int64
    let digest: String
  }

  package internal(set) var rules: StandInRules
  /// As at the start; a reset comes back to them.
  let initialRules: StandInRules
  package internal(set) var statistics = StandInStatistics()
  var clock: StandInClock
  var draws: SeededGenerator
  let randomness: Randomness
  let digest: @Sendable (String) -> String
  var keys: [StandInKey]
  /// Connections counted before the last reset: numbers are never given twice.
  var connectionsBefore = 0
  var connections: [StandInConnectionID: Connection] = [:]
  var verified: [String: VerifiedToken] = [:]
  var ledger = TokenLedger()
  var faults = FaultBook()
  var faultRules: [FaultRule] = []
  var wireLog: WireLog
  var wireSequence = 0
  var devices: [StandInDevice] = []
  /// Where deleted devices stood: `devices` keeps its indexes.
  var vacant: Set<Int> = []
  var indexByToken: [[UInt8]: Int] = [:]
  var indexByID: [String: Int] = [:]
  var bundles: Set<String> = []
  var pushSequence = 0
  var inboxBudget = InboxBudget()
  var linkSequence = 0
  var deviceOfLink: [StandInLinkID: Int] = [:]

  /// - Parameters:
  ///   - keys: the keys whose provider tokens are good.
  ///   - bundles: apps of the team; each device's topic joins them.
  ///   - digest: SHA-256 in hex, for the log.
  package init(
    keys: [StandInKey], bundles: Set<String>, rules: StandInRules = StandInRules(), clock: Clock,
    randomness: Randomness, digest: @escaping @Sendable (String) -> String
  ) {
    self.keys = keys
    self.bundles = bundles
    self.rules = rules
    initialRules = rules
    wireLog = WireLog(capacity: rules.wireLogRequests, bytes: rules.wireLogBytes)
    self.clock = StandInClock(clock)
    self.randomness = randomness
    self.digest = digest
    draws = SeededGenerator(seed: randomness.uint64())
  }

  // MARK: Connections

  /// A connection of that personality is up. Announce `streamLimit(of:)`.
  package mutating func connectionOpened(
    _ environment: StandInEnvironment, certificate: StandInCertificate? = nil
  ) -> StandInConnectionID {
    statistics.connections += 1
    statistics.openConnections += 1
    let id = StandInConnectionID(rawValue: connectionsBefore + statistics.connections)
    var connection = Connection(
      environment: environment,
      streamLimit: certificate == nil ? rules.streamsBeforeToken : rules.streamsAfterToken)
    connection.certificate = certificate
    connection.lastActivity = clock.now
    connections[id] = connection
    return id
  }

  package func streamLimit(of connection: StandInConnectionID) -> Int {
    connections[connection]?.streamLimit ?? rules.streamsBeforeToken
  }

  package mutating func connectionClosed(_ connection: StandInConnectionID) {
    guard connections.removeValue(forKey: connection) != nil else { return }
    statistics.openConnections -= 1
    if rules.providerTokenScope == .connection { ledger.forget(scope: "connection \(connection.rawValue)") }
  }

  /// A PING came in; its answer is the HTTP/2 layer's.
  package mutating func pingReceived(on connection: StandInConnectionID? = nil) {
    statistics.pings += 1
    if let connection { connections[connection]?.lastActivity = clock.now }
  }

  /// So many streams are open on one connection, the one of the request at hand included.
  package mutating func sawOpenStreams(_ count: Int) {
    statistics.maxConcurrentSeen = max(statistics.maxConcurrentSeen, count)
  }

  // MARK: Requests

  package mutating func handle(_ request: StandInRequest) -> [StandInAction] {
    guard let connection = connections[request.connection] else { return [] }
    guard request.stream <= connection.lastStream else {
      statistics.ignored += 1
      return []
    }
    let decision = faultDecision(request, connection)
    if case .over = decision { return [] }
    statistics.requests += 1
    if request.headersWereCut { return refuseHeaders(request, limitBefore: connection.streamLimit) }
    let fields = RequestFields(request.headers)
    let before = connection.streamLimit
    let verdict = judge(request, fields)
    let receipt = receipt(fields, verdict, connection.environment)
    guard case .rule(let index, let rule) = decision else { return settle(request, receipt, limitBefore: before) }
    return apply(rule, index: index, to: request, receipt, limitBefore: before)
  }

  /// 431 (RFC 6585 section 5): Apple names no reason for a header section without end.
  private mutating func refuseHeaders(_ request: StandInRequest, limitBefore: Int) -> [StandInAction] {
    let receipt = Receipt(
      verdict: .failure(Refusal(.duplicateHeaders, "the header section is too long")), apnsID: makeUUID(),
      uniqueID: nil, at: clock.now)
    let outcome = Outcome(status: 431, reason: nil, timestamp: nil, detail: "the header section is too long")
    return answer(request, receipt, outcome, limitBefore: limitBefore, faultRule: nil, taken: false)
  }

  /// The usual end of a request: into the inbox if it was good, and a reply.
  mutating func settle(
    _ request: StandInRequest, _ receipt: Receipt, limitBefore: Int, faultRule: Int? = nil
  ) -> [StandInAction] {
    let wakes = take(request, receipt)
    return answer(
      request, receipt, receipt.outcome, limitBefore: limitBefore, faultRule: faultRule, taken: receipt.isGood) + wakes
  }

  private mutating func receipt(
    _ fields: RequestFields, _ verdict: Result<GoodPush, Refusal>, _ environment: StandInEnvironment
  ) -> Receipt {
    let given = fields.id.flatMap { UUIDText.isCanonical($0) ? $0 : nil }
    return Receipt(
      verdict: verdict, apnsID: given ?? makeUUID(), uniqueID: environment == .sandbox ? makeUUID() : nil,
      at: clock.now)
  }

  /// Sends a reply, counts and logs it, and moves the stream limit as APNs does.
  mutating func answer(
    _ request: StandInRequest, _ receipt: Receipt, _ outcome: Outcome, limitBefore: Int, faultRule: Int?, taken: Bool
  ) -> [StandInAction] {
    let id = request.connection
    statistics.byStatus[outcome.status, default: 0] += 1
    if let reason = outcome.reason { statistics.byReason[reason, default: 0] += 1 }
    log(request, receipt.device, at: receipt.at, outcome, faultRule: faultRule, taken: taken)
    var actions = [StandInAction.reply(id, stream: request.stream, reply(outcome, receipt))]
    guard var connection = connections[id] else { return actions }
    connection.highestStream = max(connection.highestStream, request.stream)
    connection.lastActivity = receipt.at
    if let lower = rules.streamsAfterError, connection.isKnown, !connection.isLimitedByFault {
      connection.streamLimit = outcome.status == 200 || outcome.status == 410 ? rules.streamsAfterToken : lower
    }
    if connection.streamLimit != limitBefore { actions.append(.streamLimit(id, connection.streamLimit)) }
    if outcome.status != 200 && outcome.status != 410 { connection.errors += 1 }
    let isTooMany = rules.errorsBeforeDisconnect.map { connection.errors >= $0 } ?? false
    if isTooMany || isUnwelcome(connection, outcome), connection.lastStream == .max {
      connection.lastStream = connection.highestStream
      statistics.goaways += 1
      actions.append(.goaway(id, lastStream: connection.highestStream, debug: Self.goawayDebug(outcome.reason)))
      actions.append(.close(id))
    }
    connections[id] = connection
    guard let until = connection.silentUntil else { return actions }
    let wait = clock.monotonic.duration(to: until).milliseconds
    return wait > 0 ? [.later(milliseconds: Int(wait), actions)] : actions
  }

  private func reply(_ outcome: Outcome, _ receipt: Receipt) -> StandInReply {
    var headers = [StandInHeader("apns-id", receipt.apnsID)]
    if let unique = receipt.uniqueID, outcome.status == 200 {
      headers.append(StandInHeader("apns-unique-id", unique))
    }
    guard let reason = outcome.reason else { return StandInReply(status: outcome.status, headers: headers, body: []) }
    headers.append(StandInHeader("content-type", "application/json"))
    var body: JSONValue = ["reason": .string(reason)]
    if let timestamp = outcome.timestamp { body = ["reason": .string(reason), "timestamp": .int(timestamp)] }
    return StandInReply(status: outcome.status, headers: headers, body: body.encoded)
  }

  /// A certificate that will never do ends its connection.
  private func isUnwelcome(_ connection: Connection, _ outcome: Outcome) -> Bool {
    guard outcome.status == 403, connection.certificate != nil else { return false }
    return [StandInReason.badCertificate.word, StandInReason.badCertificateEnvironment.word].contains(outcome.reason)
  }

  static func goawayDebug(_ reason: String?) -> [UInt8] {
    reason.map { (["reason": .string($0)] as JSONValue).encoded } ?? []
  }

  mutating func makeUUID() -> String {
    UUIDText.make(draws.next(), draws.next())
  }
}

extension DevicePath {
  var token: Substring? {
    if case .device(let token) = self { token } else { nil }
  }
}
