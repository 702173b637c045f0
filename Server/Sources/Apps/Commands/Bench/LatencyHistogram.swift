/// Durations counted in buckets that are never wider than a 64th of what they hold: any number of them takes 20 KB, and
/// few of them, as each of thousands of tasks has, next to nothing.
package struct LatencyHistogram: Sendable {
  /// Above 2^36 microseconds, some 19 hours, nothing is told apart.
  private static let buckets = 32 * 64

  /// So many are kept as they are before they are counted.
  private static let fresh = 256

  /// Empty until there are more than a few.
  private var counts: [Int] = []
  /// Bucket by bucket, in order of arrival.
  private var uncounted: [UInt16] = []
  package private(set) var count = 0
  package private(set) var longestMicroseconds = 0

  package init() {}

  /// One more; a negative one counts as none.
  package mutating func add(nanoseconds: Int64) {
    let microseconds = max(0, Int(nanoseconds / 1000))
    longestMicroseconds = max(longestMicroseconds, microseconds)
    uncounted.append(UInt16(min(Self.buckets - 1, Self.bucket(of: microseconds))))
    count += 1
    if uncounted.count == Self.fresh { countAll() }
  }

  /// All of another's.
  package mutating func add(_ other: LatencyHistogram) {
    countAll()
    for (index, more) in other.counts.enumerated() { counts[index] += more }
    for bucket in other.uncounted { counts[Int(bucket)] += 1 }
    count += other.count
    longestMicroseconds = max(longestMicroseconds, other.longestMicroseconds)
  }

  private mutating func countAll() {
    if counts.isEmpty { counts = [Int](repeating: 0, count: Self.buckets) }
    for bucket in uncounted { counts[Int(bucket)] += 1 }
    uncounted.removeAll(keepingCapacity: true)
  }

  /// The least duration that `share` of all do not exceed, in microseconds, to a 64th; 0 when there are none.
  package func quantile(_ share: Double) -> Int {
    guard count > 0 else { return 0 }
    var whole = self
    whole.countAll()
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (index, more) in whole.counts.enumerated() {
      seen += more
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
