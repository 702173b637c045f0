/// How a command ended, for scripts.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case done = 0
  /// Not expected: a fault of ours or of the machine.
  case failure = 1
  /// Wrong usage or invalid input; nothing was sent.
  case usage = 2
  case notFound = 3
  /// Not signed in, or not allowed.
  case notAllowed = 4
  /// Refused for its state: conflict, count mismatch.
  case conflict = 5
  /// Sent, but some deliveries did not end accepted.
  case partial = 6
  /// No connection came up.
  case unreachable = 7
  /// Waiting ran out; work goes on at the server.
  case timedOut = 8
  case interrupted = 130
}
