package import PabalModel
package import PabalPrimitives

/// The times and counts of the ledger.
package struct DeliveryRules: Sendable, Equatable {
  package var schedule: RetryMachine.Schedule
  /// From the hand-over to a connection to the whole answer.
  package var requestTimeout: Duration
  /// Deadlines are looked at no more often than this, so that a full ledger of distinct deadlines costs little.
  package var deadlineGrain: Duration
  /// Repeats of a push that was never processed: this many at once, the rest by the schedule…
  package var freeRepeatsAtOnce: Int
  /// …and no more than this in all.
  package var freeRepeatsMaximum: Int

  package init(
    schedule: RetryMachine.Schedule = RetryMachine.Schedule(), requestTimeout: Duration = .seconds(30),
    deadlineGrain: Duration = .milliseconds(20), freeRepeatsAtOnce: Int = 4, freeRepeatsMaximum: Int = 16
  ) {
    self.schedule = schedule
    self.requestTimeout = requestTimeout
    self.deadlineGrain = deadlineGrain
    self.freeRepeatsAtOnce = freeRepeatsAtOnce
    self.freeRepeatsMaximum = freeRepeatsMaximum
  }
}

/// What a caller grants one push.
package struct DeliveryTerms: Sendable, Equatable {
  /// No request starts later, and no repeat waits beyond it.
  package var deadline: Instant?
  /// A repeat is harmless (collapse id), or the caller prefers twice to never.
  package var repeatsUnknown: Bool
  /// Requests that may be answered with 429, 500 or 503, the first one included.
  package var attemptLimit: Int

  package init(deadline: Instant? = nil, repeatsUnknown: Bool = false, attemptLimit: Int = 4) {
    self.deadline = deadline
    self.repeatsUnknown = repeatsUnknown
    self.attemptLimit = attemptLimit
  }
}

/// A provider's answer other than 200, seen by what helps against it.
package struct DeliveryRefusal: Sendable, Equatable {
  package enum Remedy: Sendable, Equatable {
    /// Nothing: the provider said no for good.
    case none
    /// A new provider token, once.
    case freshCredential
    /// Time; `retryAfter` is the provider's own word on how much.
    case later(retryAfter: Duration?)
  }

  package var reason: ReasonCode
  package var remedy: Remedy

  package init(reason: ReasonCode, remedy: Remedy) {
    self.reason = reason
    self.remedy = remedy
  }
}

/// How one push ended.
package struct DeliveryEnding: Sendable, Equatable {
  package let tag: PushTag
  /// `accepted`, `rejected`, `expired`, `unknown` or `canceled`.
  package let state: DeliveryState
  package let reason: ReasonCode?
  /// Requests that the peer may have seen.
  package let attempts: Int
  /// The first hand-over to a connection; `nil`: there was none.
  package let started: Instant?
  /// The last connection that it was handed to.
  package let connection: ConnectionKey
}
