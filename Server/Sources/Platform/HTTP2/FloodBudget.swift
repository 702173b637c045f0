package import PabalPrimitives

/// How many frames that cost us work and the peer nothing (RST_STREAM, PING, SETTINGS, PRIORITY) a peer may send:
/// a bucket that refills with time.
package struct FloodBudget: Sendable {
  private let capacity: Double
  private let perSecond: Double
  private var available: Double
  private var updated: Instant?

  package init(burst: Int = HTTP2Limits.floodBurst, perSecond: Int = HTTP2Limits.floodPerSecond) {
    capacity = Double(burst)
    self.perSecond = Double(perSecond)
    available = Double(burst)
  }

  /// Gives back what time has earned since the last call, up to the burst. Time that goes back earns nothing.
  package mutating func refill(at now: Instant) {
    if let updated, updated < now {
      let seconds = Double(now.nanoseconds - updated.nanoseconds) / 1e9
      available = min(capacity, available + seconds * perSecond)
    }
    updated = now
  }

  /// False: the peer has used up its budget.
  package mutating func spend() -> Bool {
    available -= 1
    return available >= 0
  }
}
