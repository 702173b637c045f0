import PabalPrimitives
import PabalSimulation
import Testing

@Suite struct PhoneClockTests {
  @Test func `timers ring at their own moments and in order`() {
    let clock = PhoneClock(startingAt: WallTime(milliseconds: 1000))
    let journal = Journal()
    _ = clock.schedule(after: .seconds(2)) {
      journal.write("second at \(clock.now.milliseconds)")
      _ = clock.schedule(after: .seconds(1)) { journal.write("made meanwhile at \(clock.now.milliseconds)") }
    }
    _ = clock.schedule(after: .seconds(1)) { journal.write("first at \(clock.now.milliseconds)") }
    let cancelled = clock.schedule(after: .seconds(1)) { journal.write("cancelled") }
    clock.cancel(cancelled)
    _ = clock.schedule(after: .seconds(9)) { journal.write("later") }
    clock.advance(by: .seconds(4))
    #expect(journal.lines == ["first at 2000", "second at 3000", "made meanwhile at 4000"])
    #expect(clock.now == WallTime(milliseconds: 5000))
  }

  @Test func `a sleep ends with the clock or with its task`() async throws {
    let clock = PhoneClock(startingAt: WallTime(milliseconds: 0))
    async let slept: Void = clock.sleep(for: .zero)
    clock.advance(by: .zero)
    // The sleeper may not have begun yet: ring until it has.
    let ringing = Task { while !Task.isCancelled { clock.advance(by: .milliseconds(1)); await Task.yield() } }
    try await slept
    ringing.cancel()
    await ringing.value
    let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
