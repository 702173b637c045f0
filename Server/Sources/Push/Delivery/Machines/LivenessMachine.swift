package import PabalPrimitives

/// Whether one connection is still alive, asked before it is trusted with a push.
///
/// A middlebox may forget an idle connection without a word. One that has been quiet for a minute gets a PING
/// (RFC 9113 section 6.7), and no push is written on it before the answer: so the push stays unsent, and a dead
/// connection costs a new dial instead of a lost reply.
package struct LivenessMachine: Sendable {
  package enum Event: Equatable, Sendable {
    /// Bytes of the peer arrived.
    case heard
    /// A push waits for this connection.
    case wanted
    /// A request got no answer in its time.
    case suspected
    case wake
  }

  package enum Action: Equatable, Sendable {
    case ping
    /// No answer: abort the connection.
    case dead
  }

  private enum State: Equatable {
    /// Can transition to: probing.
    case trusted
    /// A PING is out. Can transition to: trusted, dead.
    case probing(deadline: Instant)
    case dead
  }

  private let quietLimit: Duration
  private let answerLimit: Duration
  private var state = State.trusted
  private var lastHeard: Instant

  package init(quietLimit: Duration, answerLimit: Duration, now: Instant) {
    self.quietLimit = quietLimit
    self.answerLimit = answerLimit
    lastHeard = now
  }

  /// Whether a push may be written now.
  package func mayWrite(now: Instant) -> Bool {
    state == .trusted && now < lastHeard.advanced(by: quietLimit)
  }

  package var nextWake: Instant? {
    if case .probing(let deadline) = state { deadline } else { nil }
  }

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    switch (event, state) {
    case (.heard, .trusted):
      lastHeard = now
      return []
    case (.heard, .probing):
      lastHeard = now
      state = .trusted
      return []
    case (.wanted, .trusted):
      return mayWrite(now: now) ? [] : probe(now: now)
    case (.suspected, .trusted):
      return probe(now: now)
    case (.wake, .probing(let deadline)) where now >= deadline:
      state = .dead
      return [.dead]
    case (.wanted, .probing), (.suspected, .probing), (.wake, _), (_, .dead):
      return []
    }
  }

  private mutating func probe(now: Instant) -> [Action] {
    state = .probing(deadline: now.advanced(by: answerLimit))
    return [.ping]
  }
}
