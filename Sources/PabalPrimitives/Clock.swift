#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The two clocks that code is given instead of asking the system.
public struct Clock: Sendable {
  public var monotonic: @Sendable () -> Instant
  public var wall: @Sendable () -> WallTime

  public init(monotonic: @escaping @Sendable () -> Instant, wall: @escaping @Sendable () -> WallTime) {
    self.monotonic = monotonic
    self.wall = wall
  }

  public static let system = Clock(
    monotonic: { Instant(nanoseconds: read(CLOCK_MONOTONIC)) },
    wall: { WallTime(milliseconds: Int64(read(CLOCK_REALTIME) / 1_000_000)) })

  private static func read(_ id: clockid_t) -> UInt64 {
    var time = timespec()
    let status = clock_gettime(id, &time)
    precondition(status == 0, "clock_gettime fails only for an unknown clock")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Time that moves only when told to.
public final class ManualClock: Sendable {
  private let state: Locked<(monotonic: Instant, wall: WallTime)>

  public init(monotonic: Instant = .zero, wall: WallTime = WallTime(milliseconds: 1_800_000_000_000)) {
    state = Locked((monotonic, wall))
  }

  public var clock: Clock {
    Clock(
      monotonic: { self.state.withLock { $0.monotonic } },
      wall: { self.state.withLock { $0.wall } })
  }

  /// Moves both clocks.
  public func advance(by duration: Duration) {
    state.withLock {
      $0.monotonic = $0.monotonic.advanced(by: duration)
      $0.wall = $0.wall.advanced(by: duration)
    }
  }

  /// Moves civil time alone, as a user or NTP does.
  public func setWall(_ time: WallTime) {
    state.withLock { $0.wall = time }
  }
}
