import Commands
import PabalPrimitives
import Testing

/// Latencies of a bench, counted by buckets.
@Suite struct LatencyHistogramTests {
  /// Microseconds from none to hours, small ones most often.
  private func durations(_ count: Int) -> [Int] {
    let randomness = Randomness.seeded(16)
    return (0..<count).map { _ in Int(randomness.uint64() % (1 << (randomness.uint64() % 34))) }
  }

  private func histogram(_ durations: some Sequence<Int>) -> LatencyHistogram {
    var histogram = LatencyHistogram()
    for duration in durations { histogram.add(nanoseconds: Int64(duration) * 1000 + 999) }
    return histogram
  }

  @Test("a quantile is the one of the sorted list, to a 64th", arguments: [1, 3, 255, 256, 257, 10_000])
  func quantiles(count: Int) {
    let durations = durations(count)
    let histogram = histogram(durations)
    let sorted = durations.sorted()
    #expect(histogram.count == count)
    #expect(histogram.longestMicroseconds == sorted.last)
    for share in [0.001, 0.25, 0.5, 0.99, 1] {
      let exact = sorted[max(1, Int((Double(count) * share).rounded(.up))) - 1]
      let found = histogram.quantile(share)
      #expect(found <= exact && found >= exact - exact / 64, "\(share) of \(count)")
    }
  }

  @Test("those of many tasks together are those of one", arguments: [1, 7, 300, 4000])
  func merged(size: Int) {
    let durations = durations(10_000)
    var merged = LatencyHistogram()
    for start in stride(from: 0, to: durations.count, by: size) {
      merged.add(histogram(durations[start...].prefix(size)))
    }
    let whole = histogram(durations)
    #expect(merged.count == whole.count && merged.longestMicroseconds == whole.longestMicroseconds)
    for share in stride(from: 0.0, through: 1, by: 0.05) { #expect(merged.quantile(share) == whole.quantile(share)) }
  }

  @Test("nothing, what ran backwards, and what never ended") func edges() {
    #expect(LatencyHistogram().quantile(0.5) == 0)
    var histogram = LatencyHistogram()
    histogram.add(nanoseconds: -5)
    #expect(histogram.quantile(1) == 0 && histogram.longestMicroseconds == 0)
    histogram.add(nanoseconds: .max)
    #expect(histogram.longestMicroseconds == Int(Int64.max / 1000))
    #expect(histogram.quantile(1) > 1 << 35)
  }
}
