/// Exact counts since the start or the last reset.
package struct StandInStatistics: Sendable {
  /// Requests read whole, refused ones included.
  package internal(set) var requests = 0
  /// Pushes that APNs took, for offline devices too.
  package internal(set) var taken = 0
  /// Replies sent, by status and by reason.
  package internal(set) var byStatus: [Int: Int] = [:]
  package internal(set) var byReason: [String: Int] = [:]
  /// Connections opened.
  package internal(set) var connections = 0
  package internal(set) var openConnections = 0
  package internal(set) var goaways = 0
  package internal(set) var resets = 0
  /// Connections cut by a fault.
  package internal(set) var drops = 0
  /// Requests that came above the last stream of a GOAWAY and were not looked at.
  package internal(set) var ignored = 0
  /// The most streams open at once on one connection when a request was whole.
  package internal(set) var maxConcurrentSeen = 0
  package internal(set) var pings = 0
  /// Distinct provider tokens that passed verification.
  package internal(set) var providerTokens = 0
}
