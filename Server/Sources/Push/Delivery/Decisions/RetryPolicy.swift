package import PabalModel
package import PabalPrimitives

/// When a push that nobody took is handed over again, and when it is given up.
///
/// The server's own schedule, over minutes and from the store, so that devices and wishes are looked at anew before
/// each repeat; a transport repeats within milliseconds what certainly had no effect.
package struct RetryPolicy: Sendable {
  /// Waits after the first, second, … hand-over; the last one goes on.
  package var steps: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(900)]
  /// A provider that cannot be reached is not asked for a favour: it is tried again sooner.
  package var unreachableMaximum = Duration.seconds(30)
  /// Answered requests for one push, the first one included.
  package var attemptsMaximum = 10
  /// Each wait is moved by up to this share of it either way, so that pushes refused together do not come back
  /// together.
  package var jitter = 0.2
  /// `Retry-After` is believed up to this.
  package var retryAfterMaximum = Duration.seconds(3_600)

  package init() {}

  package enum Decision: Sendable, Equatable {
    case again(at: WallTime)
    case giveUp(DeliveryState, ReasonCode)
  }

  /// What is known of a push that came back.
  package struct Failure: Sendable {
    /// What it was told, or what it lacked.
    package var reason: ReasonCode
    /// The provider's own word on when to come back.
    package var retryAfter: Duration?
    /// Requests made so far, this hand-over's included.
    package var attempts: Int
    /// How often it has waited before.
    package var postponements: Int

    package init(reason: ReasonCode, retryAfter: Duration? = nil, attempts: Int, postponements: Int) {
      self.reason = reason
      self.retryAfter = retryAfter
      self.attempts = attempts
      self.postponements = postponements
    }
  }

  /// - Parameters:
  ///   - end: no repeat starts at or after it.
  ///   - randomness: for the jitter.
  package func decide(
    after failure: Failure, now: WallTime, end: WallTime?, randomness: Randomness
  ) -> Decision {
    guard failure.attempts < attemptsMaximum else { return .giveUp(.rejected, .retriesExhausted) }
    let at = now.advanced(by: wait(after: failure, randomness))
    if let end, at >= end { return .giveUp(.expired, .timeToLiveElapsed) }
    return .again(at: at)
  }

  private func wait(after failure: Failure, _ randomness: Randomness) -> Duration {
    if let asked = failure.retryAfter { return min(max(asked, .zero), retryAfterMaximum) }
    let step = steps[min(failure.postponements, steps.count - 1)]
    let base = failure.reason == .providerUnreachable ? min(step, unreachableMaximum) : step
    let share = Double(randomness.uint64() >> 11) / Double(1 << 53)
    return base * (1 + jitter * (2 * share - 1))
  }
}
