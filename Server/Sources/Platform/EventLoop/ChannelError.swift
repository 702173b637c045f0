package import PabalPrimitives

/// Why a channel, a dial or a listener failed.
package typealias ChannelError = KindError<ChannelErrorKind>

/// The closed list of `ChannelError`.
package enum ChannelErrorKind: String, Sendable {
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
