import CMicrohttpd
import PabalPrimitives

/// An HTTP/1.1 server on one address: the guards, the router, and handlers that may take their time.
///
/// `start` returns when it listens. It must be ended with `stop`, which waits for the handlers at work.
/// The library runs on one thread of its own; handlers run as child tasks of the server.
package final class WebServer: Sendable {
  struct Job: Sendable {
    let exchange: Exchange
    let request: HTTPRequest
    let route: Route
  }

  /// What `stop` waits for at the moment.
  struct Waiting {
    let condition: @Sendable (State) -> Bool
    let giveUp: Instant
    let continuation: AsyncStream<Void>.Continuation
  }

  struct State {
    var daemon: OpaquePointer?
    var jobs: AsyncStream<Job>.Continuation?
    var serving: Task<Void, Never>?
    var exchanges: [ObjectIdentifier: Exchange] = [:]
    var deadlines: ConnectionDeadlines
    var quietListener: CInt?
    var isDraining = false
    var isStopping = false
    /// Handlers at work; streams do not count.
    var handling = 0
    var ticker: Ticker?
    var waiting: Waiting?
    var canary: [UInt8]?
  }

  let configuration: WebServerConfiguration
  let router: Router
  let requestGuard: RequestGuard
  let state: Locked<State>

  package init(configuration: WebServerConfiguration, router: Router) {
    self.configuration = configuration
    self.router = router
    requestGuard = RequestGuard(limits: configuration.limits, allowedHosts: configuration.allowedHosts)
    state = Locked(State(deadlines: ConnectionDeadlines(limits: configuration.limits)))
  }

  /// Requests whose handler is at work, and streams that are open.
  package var openRequests: Int { state.withLock { $0.exchanges.count } }
  package var openConnections: Int { state.withLock { $0.deadlines.count } }
  package var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Binds, listens and serves.
  /// - Returns: the port that it listens on.
  /// - Throws: `WebServerError`: a bad or taken address, or a library whose header layout the fold guard cannot read.
  package func start() throws(WebServerError) -> UInt16 {
    let address = try SocketAddress(host: configuration.host, port: configuration.port)
    guard state.withLock({ $0.daemon == nil && !$0.isStopping }) else {
      throw WebServerError(.alreadyStarted, "This server was started before; make a new one.")
    }
    let (jobs, continuation) = AsyncStream.makeStream(of: Job.self)
    state.withLock { $0.jobs = continuation }
    let daemon = try Library.start(self, address: address)
    let port = pabal_mhd_port(daemon)
    state.withLock { $0.daemon = daemon }
    let ticker: Ticker?
    do throws(WebServerError) {
      try checkFoldGuard(address, port: port)
      ticker = try makeTicker()
    } catch {
      MHD_stop_daemon(daemon)
      state.withLock { $0.daemon = nil }
      continuation.finish()
      throw error
    }
    // Held by the state and awaited by `stop`.
    let serving = Task.detached { await self.serve(jobs) }
    state.withLock { state in
      state.serving = serving
      state.ticker = ticker
    }
    return port
  }

  private func makeTicker() throws(WebServerError) -> Ticker? {
    guard case .everySecond = configuration.ticker else { return nil }
    return try Ticker { self.tick() }
  }

  /// Takes no new connection and tells every client to close; what is open is served.
  package func drain() {
    state.withLock { state in
      guard let daemon = state.daemon, !state.isDraining else { return }
      state.isDraining = true
      let listener = MHD_quiesce_daemon(daemon)
      if listener >= 0 { state.quietListener = listener }
    }
  }

  /// Drains, waits at most `grace` for handlers at work, answers the rest with 503, ends the streams, and stops.
  package func stop(grace: Duration = .seconds(5)) async {
    drain()
    await wait(grace) { $0.handling == 0 }
    let exchanges = state.withLock { state -> [Exchange] in
      state.isStopping = true
      // Nothing that is only beginning will be answered.
      for phase in [ConnectionDeadlines.Phase.idle, .head, .body] {
        for descriptor in state.deadlines.descriptors(in: phase) { SocketAddress.shutDown(descriptor) }
      }
      return Array(state.exchanges.values)
    }
    for exchange in exchanges {
      exchange.abandon(router.errorForm(Self.stopping, exchange.path, exchange.requestID))
    }
    // The library drops what it has not written yet: wait until the last answers have gone out.
    await wait(Self.lastAnswers) { $0.exchanges.isEmpty }
    let daemon = state.withLock { state -> OpaquePointer? in
      defer { state.daemon = nil }
      return state.daemon
    }
    if let daemon { MHD_stop_daemon(daemon) }
    let (jobs, serving, listener, ticker) = state.withLock { ($0.jobs, $0.serving, $0.quietListener, $0.ticker) }
    ticker?.stop()
    if let listener { SocketAddress.close(listener) }
    jobs?.finish()
    await serving?.value
  }

  /// Time for answers that are ready to reach their clients before the library is stopped.
  private static let lastAnswers = Duration.seconds(2)

  /// Looks at deadlines, heartbeats and stalled streams. Runs by itself unless the ticker is `.manual`.
  package func tick() {
    let now = configuration.clock.monotonic()
    let (overdue, exchanges, waiting) = state.withLock {
      state -> ([ConnectionDeadlines.Overdue], [Exchange], AsyncStream<Void>.Continuation?) in
      let overdue = state.deadlines.overdue(now: now)
      for late in overdue where late.phase != .handling { SocketAddress.shutDown(late.descriptor) }
      let isTimeUp = state.waiting.map { $0.giveUp <= now } ?? false
      return (overdue, Array(state.exchanges.values), isTimeUp ? state.waiting?.continuation : nil)
    }
    waiting?.finish()
    let late = Set(overdue.filter { $0.phase == .handling }.map(\.connection))
    for exchange in exchanges {
      if late.contains(exchange.connection) {
        exchange.finish(router.errorForm(Self.tooSlow, exchange.path, exchange.requestID))
      }
      exchange.tendStream(now: now, limits: configuration.limits)
    }
  }

  static let stopping = APIError(
    503, .server, "draining", "The server is stopping; ask again in a moment.",
    headers: [HTTPField("Retry-After", "1")])
  static let tooSlow = APIError(
    503, .server, "handler_timeout", "The answer took too long; whether it had an effect is unknown.")

  // MARK: Serving

  private func serve(_ jobs: AsyncStream<Job>) async {
    await withDiscardingTaskGroup { group in
      for await job in jobs {
        group.addTask { await self.run(job) }
      }
      group.cancelAll()
    }
  }

  private func run(_ job: Job) async {
    let response = await job.route.handler(job.request)
    job.exchange.finish(response)
    let idle = state.withLock { state -> AsyncStream<Void>.Continuation? in
      state.handling -= 1
      return state.metWait()
    }
    idle?.finish()
    guard case .stream(let stream) = response.body, let producer = stream.producer else { return }
    await producer(stream)
    stream.finish()
  }

  /// Returns when `condition` holds, looked at whenever a request ends, or at the first tick after `limit`.
  private func wait(_ limit: Duration, until condition: @escaping @Sendable (State) -> Bool) async {
    guard limit > .zero else { return }
    let (signal, continuation) = AsyncStream.makeStream(of: Void.self)
    let giveUp = configuration.clock.monotonic().advanced(by: limit)
    let isMet = state.withLock { state in
      state.waiting = Waiting(condition: condition, giveUp: giveUp, continuation: continuation)
      return condition(state)
    }
    if !isMet { for await _ in signal {} }
    state.withLock { $0.waiting = nil }
  }
}

extension WebServer.State {
  /// What `stop` waits for, if that has come.
  func metWait() -> AsyncStream<Void>.Continuation? {
    guard let waiting, waiting.condition(self) else { return nil }
    return waiting.continuation
  }
}
