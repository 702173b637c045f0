package import APNs
package import PabalModel
package import PabalPrimitives

/// What the caller of a push grants it.
package struct PushTerms: Sendable {
  /// No attempt starts later. `nil`: the caller waits as long as it takes.
  package var expiresAt: WallTime?
  /// A push that was written and has no reply may be sent once more: it has a collapse id, or its caller prefers twice
  /// to never.
  package var repeatsUnknown: Bool
  /// Attempts that may be answered with 429, 500 or 503, the first one included.
  package var attemptLimit: Int

  package init(expiresAt: WallTime? = nil, repeatsUnknown: Bool, attemptLimit: Int = 4) {
    self.expiresAt = expiresAt
    self.repeatsUnknown = repeatsUnknown
    self.attemptLimit = attemptLimit
  }
}

/// One push to hand over.
package struct APNsPush: Sendable {
  /// The caller's own number; comes back in the outcome and means nothing here.
  package let tag: UInt64
  package let request: APNsRequest
  /// The same for every repeat.
  package let apnsID: APNsID
  package let terms: PushTerms

  /// - Parameter repeatsUnknown: `nil`: if it has a collapse id.
  package init(
    tag: UInt64, request: APNsRequest, apnsID: APNsID, expiresAt: WallTime? = nil, repeatsUnknown: Bool? = nil,
    attemptLimit: Int = 4
  ) {
    self.tag = tag
    self.request = request
    self.apnsID = apnsID
    terms = PushTerms(
      expiresAt: expiresAt, repeatsUnknown: repeatsUnknown ?? (request.head.collapseID != nil),
      attemptLimit: attemptLimit)
  }
}

/// How one push ended. Exactly one for each push handed over.
///
/// Small, because a run has millions: what only few outcomes say stands apart.
package struct APNsOutcome: Sendable {
  /// The push's own.
  package let tag: UInt64
  package let apnsID: APNsID
  /// From the first hand-over to a connection to the outcome; zero when there was none.
  package let nanoseconds: Int64
  private let seenAttempts: Int32
  private let lastConnection: Int32
  private let place: Int32
  /// `accepted`, `rejected`, `expired`, `unknown` or `canceled`.
  package let state: DeliveryState
  private let detail: Detail?

  /// What outcomes say that are not plain successes.
  final class Detail: Sendable {
    let reason: ReasonCode?
    let reply: APNsReply?
    let apnsUniqueID: String?
    let retryAfter: Duration?

    init(reason: ReasonCode?, reply: APNsReply?, apnsUniqueID: String?, retryAfter: Duration?) {
      self.reason = reason
      self.reply = reply
      self.apnsUniqueID = apnsUniqueID
      self.retryAfter = retryAfter
    }
  }

  /// - Parameters:
  ///   - index: of the push in its batch.
  ///   - detail: `nil` for a 200 that says no more.
  init(
    tag: UInt64, index: Int32, state: DeliveryState, apnsID: APNsID, attempts: Int, nanoseconds: Int64,
    connection: Int32, detail: Detail?
  ) {
    self.tag = tag
    place = index
    self.state = state
    self.apnsID = apnsID
    seenAttempts = Int32(clamping: attempts)
    self.nanoseconds = nanoseconds
    lastConnection = connection
    self.detail = detail
  }

  /// Of the push in its batch.
  var index: Int { Int(place) }
  /// Of the last reply; `nil` when none came.
  package var status: Int? { state == .accepted ? 200 : detail?.reply?.status }
  /// `nil` when accepted.
  package var reason: ReasonCode? { detail?.reason }
  /// Sandbox only: the key of Apple's delivery log.
  package var apnsUniqueID: String? { detail?.apnsUniqueID }
  /// On 410: since when the token is not valid.
  package var timestamp: WallTime? { detail?.reply?.timestamp }
  /// What the last reply asks for; `nil` when none came.
  package var verdict: APNsVerdict? { state == .accepted ? .accepted : detail?.reply?.verdict }
  /// What the last reply asked for, where the push might be taken later; `nil`: it did not say.
  package var retryAfter: Duration? { detail?.retryAfter }
  /// Requests that APNs may have seen.
  package var attempts: Int { Int(seenAttempts) }
  /// As `nanoseconds`.
  package var duration: Duration { .nanoseconds(nanoseconds) }
  /// The last connection that it was handed to, counted from 1; 0: none.
  package var connection: Int { Int(lastConnection) }
}
