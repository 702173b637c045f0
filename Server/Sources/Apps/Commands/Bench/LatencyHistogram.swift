/// Durations counted in buckets that are never wider than a 64th of what they hold: any number of them takes 20 KB.
struct LatencyHistogram: Sendable {
  /// Above 2^36 microseconds, some 19 hours, nothing is told apart.
  private static let buckets = 32 * 64

  private var counts = [Int](repeating: 0, count: Self.buckets)
  private(set) var count = 0
  private(set) var longestMicroseconds = 0

  mutating func add(nanoseconds: Int64) {
    let microseconds = Int(nanoseconds / 1000)
    longestMicroseconds = max(longestMicroseconds, microseconds)
    counts[min(Self.buckets - 1, Self.bucket(of: max(0, microseconds)))] += 1
    count += 1
  }

  mutating func add(_ other: LatencyHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    longestMicroseconds = max(longestMicroseconds, other.longestMicroseconds)
  }

  /// The least duration that `share` of all do not exceed, to a 64th; 0 when there are none.
  func quantile(_ share: Double) -> Int {
    guard count > 0 else { return 0 }
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for index in counts.indices {
      seen += counts[index]
      if seen >= rank { return Self.lowest(of: index) }
    }
    return longestMicroseconds
  }

  private static func bucket(of microseconds: Int) -> Int {
    guard microseconds >= 128 else { return microseconds }
    let shift = Int.bitWidth - microseconds.leadingZeroBitCount - 7
    return 64 * shift + microseconds >> shift
  }

  private static func lowest(of bucket: Int) -> Int {
    guard bucket >= 128 else { return bucket }
    let shift = bucket / 64 - 1
    return (bucket - 64 * shift) << shift
  }
}
