package import PabalModel

/// What the ledger is told, and what it wants done.
extension DeliveryLedger {
  package enum Event: Sendable {
    /// Handed to the connection, in this order; the line's first ones, taken with `takeFirst`.
    case submitted([PushTag], on: ConnectionKey)
    /// The kernel has taken a byte of these.
    case written([PushTag], on: ConnectionKey)
    /// Answered with 200.
    case accepted([PushTag])
    /// Answered with anything else.
    case refused(PushTag, DeliveryRefusal)
    /// Unsent, refused stream, or above the last stream id of a GOAWAY.
    case givenBack([PushTag], from: ConnectionKey)
    /// Written, and the connection or stream ended without a reply.
    case lost([PushTag], from: ConnectionKey)
    /// Whether any connection could be used; what runs out of time without one says so.
    case reachability(Bool)
    /// The pool gave up dialling: what waits ends.
    case unreachable
    /// The provider refused our credential: what waits ends with its word.
    case credentialRefused(ReasonCode)
    /// The caller wants no more: what is unsent ends now, what is written gets this long for its reply.
    case cancel([PushTag], grace: Duration)
    case wake
  }

  package enum Action: Equatable, Sendable {
    case finished([DeliveryEnding])
    /// End the request's stream (RST_STREAM, CANCEL); its reply is of no use any more.
    case reset([PushTag], on: ConnectionKey)
    /// Requests got no answer in time: ask whether the connection lives.
    case suspect(ConnectionKey)
  }
}
