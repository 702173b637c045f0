package import APNs
package import PabalModel
package import PabalPrimitives

/// One push to hand over, with what its caller grants it.
package struct APNsPush: Sendable {
  /// The caller's own number; comes back in the outcome and means nothing here.
  package let tag: UInt64
  package let request: APNsRequest
  /// The same for every repeat.
  package let apnsID: APNsID
  /// No attempt starts later. `nil`: the caller waits as long as it takes.
  package let expiresAt: WallTime?
  /// A push that was written and has no reply may be sent once more: it has a collapse id, or its caller prefers twice
  /// to never.
  package let repeatsUnknown: Bool
  /// Attempts that may be answered with 429, 500 or 503, the first one included.
  package let attemptLimit: Int

  package init(
    tag: UInt64, request: APNsRequest, apnsID: APNsID, expiresAt: WallTime? = nil, repeatsUnknown: Bool? = nil,
    attemptLimit: Int = 4
  ) {
    self.tag = tag
    self.request = request
    self.apnsID = apnsID
    self.expiresAt = expiresAt
    self.repeatsUnknown = repeatsUnknown ?? (request.head.collapseID != nil)
    self.attemptLimit = attemptLimit
  }
}

/// How one push ended. Exactly one for each push handed over.
package struct APNsOutcome: Sendable {
  /// The push's own.
  package let tag: UInt64
  /// `accepted`, `rejected`, `expired`, `unknown` or `canceled`.
  package let state: DeliveryState
  /// Of the last reply; `nil` when none came.
  package let status: Int?
  /// `nil` when accepted.
  package let reason: ReasonCode?
  package let apnsID: APNsID
  /// Sandbox only: the key of Apple's delivery log.
  package let apnsUniqueID: String?
  /// On 410: since when the token is not valid.
  package let timestamp: WallTime?
  /// What the last reply asks for; `nil` when none came.
  package let verdict: APNsVerdict?
  /// What the last reply asked for, where the push might be taken later; `nil`: it did not say.
  package let retryAfter: Duration?
  /// Requests that APNs may have seen.
  package let attempts: Int
  /// From the first hand-over to a connection to the outcome; zero when there was none.
  package let duration: Duration
  /// The last connection that it was handed to, counted from 1; 0: none.
  package let connection: Int
}
