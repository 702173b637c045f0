#if !os(iOS)
public import PabalPrimitives

/// The phone's time: starts at a wall time and moves only by `advance`.
///
/// Several phones may share one. HTTP timeouts are not on it; they are real.
public final class PhoneClock: Sendable {
  public struct TimerID: Hashable, Sendable {
    let number: UInt64
  }

  private struct Timer {
    var due: Instant
    var work: @Sendable () -> Void
  }

  private struct State {
    var wall: WallTime
    var monotonic = Instant.zero
    var timers: [TimerID: Timer] = [:]
    var lastNumber: UInt64 = 0

    /// The next timer that is due at or before `limit`; the earlier made one first when two are due together.
    mutating func takeTimer(dueBy limit: Instant) -> Timer? {
      let next = timers.filter { $0.value.due <= limit }
        .min { ($0.value.due, $0.key.number) < ($1.value.due, $1.key.number) }
      guard let next else { return nil }
      timers[next.key] = nil
      return next.value
    }

    mutating func move(to instant: Instant) {
      wall = wall.advanced(by: monotonic.duration(to: instant))
      monotonic = instant
    }
  }

  private let state: Locked<State>

  public init(startingAt wall: WallTime = Clock.system.wall()) {
    state = Locked(State(wall: wall))
  }

  public var now: WallTime { state.withLock { $0.wall } }

  /// This clock as the value that the rest of Pabal is given.
  public var clock: Clock {
    Clock(monotonic: { self.state.withLock { $0.monotonic } }, wall: { self.now })
  }

  /// - Parameter work: runs inside `advance`, on its caller's thread.
  public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> TimerID {
    state.withLock { state in
      state.lastNumber += 1
      let id = TimerID(number: state.lastNumber)
      state.timers[id] = Timer(due: state.monotonic.advanced(by: delay), work: work)
      return id
    }
  }

  public func cancel(_ id: TimerID) {
    state.withLock { $0.timers[id] = nil }
  }

  /// Returns when the clock has been moved by `duration`. Throws `CancellationError` when the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    let rung = Watched(false)
    let timer = schedule(after: duration) { rung.withLock { $0 = true } }
    defer { cancel(timer) }
    try await rung.wait { $0 }
  }

  /// Moves time on, ringing each timer at its own moment and in order. Timers made meanwhile ring too when due.
  public func advance(by duration: Duration) {
    let end = state.withLock { $0.monotonic.advanced(by: duration) }
    while true {
      let timer = state.withLock { state in
        let timer = state.takeTimer(dueBy: end)
        state.move(to: max(state.monotonic, timer?.due ?? end))
        return timer
      }
      guard let timer else { return }
      timer.work()
    }
  }
}
#endif
