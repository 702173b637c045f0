package import PabalPrimitives

/// Where a server listens and what it allows.
package struct WebServerConfiguration: Sendable {
  package enum Ticker: Sendable {
    /// Deadlines and heartbeats are looked at once a second.
    case everySecond
    /// Only `WebServer.tick()` looks at them: for tests with a clock of their own.
    case manual
  }

  /// A numeric address, `127.0.0.1` or `::1`. Names are not resolved.
  package var host: String
  /// 0 takes a free port; `start` returns it.
  package var port: UInt16
  package var limits: WebServerLimits
  /// Host names (without port) that a request may name; nil allows any. A list keeps a web page that points its own
  /// name at this machine (DNS rebinding) out of an API without keys.
  package var allowedHosts: [String]?
  package var clock: Clock
  package var randomness: Randomness
  package var ticker: Ticker
  package var hooks: WebServerHooks

  package init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: WebServerLimits = WebServerLimits(),
    allowedHosts: [String]? = nil, clock: Clock = .system, randomness: Randomness = .system,
    ticker: Ticker = .everySecond, hooks: WebServerHooks = WebServerHooks()
  ) {
    self.host = host
    self.port = port
    self.limits = limits
    self.allowedHosts = allowedHosts
    self.clock = clock
    self.randomness = randomness
    self.ticker = ticker
    self.hooks = hooks
  }
}

/// What a server tells its owner, for metrics and logs. Called on the library's thread: must not block.
package struct WebServerHooks: Sendable {
  /// One request that was answered. Holds no raw path, header or body.
  package struct Answered: Sendable {
    package let requestID: String
    /// nil when a request was refused before its method was known.
    package let method: HTTPMethod?
    /// The route's template, or `Router.unmatched`.
    package let route: String
    package let status: Int
    package let duration: Duration
  }

  package var started: @Sendable () -> Void
  package var answered: @Sendable (Answered) -> Void

  package init(
    started: @escaping @Sendable () -> Void = {}, answered: @escaping @Sendable (Answered) -> Void = { _ in }
  ) {
    self.started = started
    self.answered = answered
  }
}

/// Why a server did not start.
package typealias WebServerError = KindError<WebServerErrorKind>

/// The closed list of `WebServerError`.
package enum WebServerErrorKind: String, Sendable {
  case addressInvalid = "address_invalid"
  case addressInUse = "address_in_use"
  case notStarted = "not_started"
  case guardFailed = "header_guard_failed"
  case alreadyStarted = "already_started"
}
