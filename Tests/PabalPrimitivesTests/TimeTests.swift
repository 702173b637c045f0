import PabalPrimitives
import Testing

@Suite("Time")
struct TimeTests {
  @Test(
    "RFC 3339 both ways",
    arguments: [
      (Int64(0), "1970-01-01T00:00:00.000Z"), (1_796_086_711_102, "2026-12-01T00:58:31.102Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
    ])
  func rfc3339(milliseconds: Int64, text: String) {
    #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
    #expect(WallTime(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test("Offsets and fractions")
  func offsets() {
    let expected = WallTime(rfc3339: "2027-01-10T00:00:00Z")
    #expect(WallTime(rfc3339: "2027-01-09T19:00:00-05:00") == expected)
    #expect(WallTime(rfc3339: "2027-01-10T09:00:00.0000009+09:00") == expected)
  }

  @Test(
    "What is no moment is refused",
    arguments: [
      "2027-01-09T19:00:00", "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01",
      "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00Zx", "",
    ])
  func refused(text: String) {
    #expect(WallTime(rfc3339: text) == nil)
  }

  @Test("Instants clamp instead of overflowing")
  func instants() {
    let start = Instant(nanoseconds: 5)
    #expect(start.advanced(by: .nanoseconds(-9)) == .zero)
    #expect(Instant(nanoseconds: .max).advanced(by: .seconds(1)).nanoseconds == .max)
    #expect(start.duration(to: .zero) == .nanoseconds(-5))
    #expect(start.advanced(by: .milliseconds(2)).duration(to: start) == .milliseconds(-2))
  }

  @Test("The ends of time clamp instead of overflowing")
  func extremes() {
    let first = WallTime(milliseconds: .min)
    let last = WallTime(seconds: .max)
    #expect(first.duration(to: last) == .milliseconds(Int64.max))
    #expect(last.duration(to: first) == .milliseconds(Int64.min))
    #expect(first.seconds == Int64.min / 1000 - 1)
    #expect(WallTime(milliseconds: -1000).seconds == -1)
  }

  @Test("A manual clock moves only when told")
  func manualClock() {
    let manual = ManualClock()
    let clock = manual.clock
    let before = (clock.monotonic(), clock.wall())
    manual.advance(by: .seconds(3))
    #expect(before.0.duration(to: clock.monotonic()) == .seconds(3))
    #expect(before.1.duration(to: clock.wall()) == .seconds(3))
    manual.setWall(WallTime(milliseconds: 0))
    #expect(clock.wall().milliseconds == 0)
    #expect(before.0.duration(to: clock.monotonic()) == .seconds(3))
  }

  @Test("Seeded randomness repeats, the system's does not")
  func randomness() {
    #expect(Randomness.seeded(7).fill(40) == Randomness.seeded(7).fill(40))
    #expect(Randomness.seeded(7).fill(40) != Randomness.seeded(8).fill(40))
    #expect(Randomness.system.fill(33).count == 33)
    #expect(Randomness.system.uint64() != Randomness.system.uint64())
  }

  @Test("A lock admits one at a time")
  func lock() async {
    let counter = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } }
      }
    }
    #expect(counter.withLock { $0 } == 8000)
  }
}
