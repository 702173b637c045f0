package import PabalPrimitives

/// `--rate`: not more than so many pushes a second over the whole run.
package struct SendPace: Sendable {
  private let rate: Int
  private let started: Instant
  private var sent = 0

  /// How long a block of pushes lasts, so that they leave evenly and not once a second.
  private static let blocksEachSecond = 20

  package init(rate: Int, started: Instant) {
    self.rate = rate
    self.started = started
  }

  /// Pushes to hand over at once.
  package func blockSize(atMost limit: Int) -> Int {
    min(limit, max(1, rate / Self.blocksEachSecond))
  }

  package mutating func spend(_ count: Int) {
    sent += count
  }

  /// Until the next block may leave; zero: now.
  package func wait(now: Instant) -> Duration {
    let due = started.advanced(by: .nanoseconds(Int64(Double(sent) / Double(rate) * 1e9)))
    return max(.zero, now.duration(to: due))
  }
}
