package import PabalPrimitives

/// Whether one connection is still alive, asked before it is trusted with a push.
///
/// A middlebox may forget an idle connection without a word. One that has been quiet for a minute gets a PING
/// (RFC 9113 section 6.7), and no push is written on it before the answer: so the push stays unsent, and a dead
/// connection costs a new dial instead of a lost reply. The PINGs also keep the middlebox from forgetting. A
/// connection that has carried no push for long is not kept.
package struct LivenessMachine: Sendable {
  package enum Event: Equatable, Sendable {
    /// Bytes of the peer arrived.
    case heard
    /// Pushes were written.
    case used
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
    /// Not used for long: let it run out.
    case idle
  }

  private enum State: Equatable {
    /// Can transition to: probing, idle.
    case trusted
    /// A PING is out. Can transition to: trusted, dead.
    case probing(deadline: Instant)
    /// Not needed any more. Can transition to: probing.
    case idle
    case dead
  }

  private let quietNanoseconds: UInt64
  private let answerLimit: Duration
  private let idleNanoseconds: UInt64?
  private var state = State.trusted
  private var lastHeard: Instant
  private var lastUsed: Instant

  /// - Parameter idleLimit: how long a connection is kept without a push; `nil`: as long as the peer likes.
  package init(quietLimit: Duration, answerLimit: Duration, idleLimit: Duration? = nil, now: Instant) {
    quietNanoseconds = quietLimit.nanosecondsForward
    self.answerLimit = answerLimit
    idleNanoseconds = idleLimit?.nanosecondsForward
    lastHeard = now
    lastUsed = now
  }

  /// Whether a push may be written now.
  package func mayWrite(now: Instant) -> Bool {
    state == .trusted && now < lastHeard.advanced(byNanoseconds: quietNanoseconds)
  }

  package var nextWake: Instant? {
    switch state {
    case .trusted:
      let quiet = lastHeard.advanced(byNanoseconds: quietNanoseconds)
      return idleNanoseconds.map { min(quiet, lastUsed.advanced(byNanoseconds: $0)) } ?? quiet
    case .probing(let deadline): return deadline
    case .idle, .dead: return nil
    }
  }

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    switch (event, state) {
    case (.heard, .dead):
      return []
    case (.heard, .probing):
      lastHeard = now
      state = .trusted
      return []
    case (.heard, _):
      lastHeard = now
      return []
    case (.used, _):
      lastUsed = now
      return []
    case (.wanted, .trusted):
      return mayWrite(now: now) ? [] : probe(now: now)
    case (.suspected, .trusted), (.suspected, .idle):
      return probe(now: now)
    case (.wake, .trusted):
      if let idleNanoseconds, now >= lastUsed.advanced(byNanoseconds: idleNanoseconds) {
        state = .idle
        return [.idle]
      }
      return mayWrite(now: now) ? [] : probe(now: now)
    case (.wake, .probing(let deadline)) where now >= deadline:
      state = .dead
      return [.dead]
    case (.wanted, _), (.suspected, _), (.wake, _):
      return []
    }
  }

  private mutating func probe(now: Instant) -> [Action] {
    state = .probing(deadline: now.advanced(by: answerLimit))
    return [.ping]
  }
}
