import PabalPrimitives

/// One request and its reply, from the request line to the last byte.
///
/// The library's thread drives it; a handler's task enters only through `finish`. The connection's pointer is held
/// only while the library has it suspended, which is when it cannot be freed.
final class Exchange: Sendable {
  enum Phase {
    /// Can transition to: `body`, `sent`.
    case head
    /// Can transition to: `running`, `sent`.
    case body
    /// Suspended, with a handler at work. Can transition to: `answered`.
    case running
    /// Can transition to: `sent`.
    case answered(HTTPResponse)
    case sent
  }

  struct State {
    var phase = Phase.head
    var head: CheckedHead?
    var match: Router.Match?
    var body: [UInt8] = []
    var bodyLimit = 0
    var discarded = 0
    var suspended: SuspendableConnection?
    var stream: BodyStream?
    /// What the stream had taken when it was last looked at, and since when it has not moved.
    var streamTaken: UInt64 = 0
    var streamOffered: UInt64 = 0
    var streamMovedAt = Instant.zero
    var streamOfferedAt = Instant.zero
    /// The server stops: nothing may suspend the connection any more.
    var isAbandoned = false
  }

  let connection: Int
  let requestID: String
  let target: [UInt8]
  let startedAt: Instant
  let state: Locked<State>

  /// The target without its query.
  var path: String { String(decoding: target.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self) }

  init(connection: Int, requestID: String, target: [UInt8], startedAt: Instant, isAbandoned: Bool) {
    self.connection = connection
    self.requestID = requestID
    self.target = target
    self.startedAt = startedAt
    var state = State()
    state.isAbandoned = isAbandoned
    self.state = Locked(state)
  }

  /// Suspends the connection for a handler. False when the server stops and must answer itself.
  func beginHandling(_ connection: SuspendableConnection) -> Bool {
    state.withLock { state in
      guard !state.isAbandoned else { return false }
      state.phase = .running
      state.suspended = connection
      connection.suspend()
      return true
    }
  }

  /// Gives the reply to the library. A second answer (a handler that was given up) is dropped.
  /// - Returns: whether this answer counts.
  @discardableResult
  func finish(_ response: HTTPResponse) -> Bool {
    state.withLock { state in
      guard case .running = state.phase, let connection = state.suspended else { return false }
      state.phase = .answered(response)
      state.suspended = nil
      connection.resume()
      return true
    }
  }

  /// The server stops: answers what is running and ends the stream.
  func abandon(_ response: HTTPResponse) {
    let stream = state.withLock { state -> BodyStream? in
      state.isAbandoned = true
      return state.stream
    }
    finish(response)
    stream?.close()
  }
}
