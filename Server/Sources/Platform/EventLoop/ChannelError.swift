package import PabalPrimitives

/// Why a channel, a dial or a listener failed.
package struct ChannelError: CodedError, Equatable {
  /// Bounded, so that it can label a metric.
  package enum Kind: String, Sendable {
    case nameNotFound = "name_not_found"
    case refused = "connection_refused"
    case unreachable = "unreachable"
    case reset = "connection_reset"
    case timedOut = "timed_out"
    case addressInUse = "address_in_use"
    case notAllowed = "not_allowed"
    case loopStopped = "loop_stopped"
    case other = "io_error"
  }

  package let kind: Kind
  package let message: String
  package let place: Place

  package var code: String { kind.rawValue }

  package init(_ kind: Kind, message: String, place: Place = Place()) {
    self.kind = kind
    self.message = message
    self.place = place
  }

  /// By kind: the sentence and the place are for people.
  package static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind
  }
}
