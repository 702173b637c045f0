/// A moment on a clock that only moves forward; its zero has no meaning outside the process.
public struct Instant: Comparable, Hashable, Sendable {
  public var nanoseconds: UInt64

  public static let zero = Instant(nanoseconds: 0)

  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Clamped at zero and at `UInt64.max`.
  public func advanced(by duration: Duration) -> Instant {
    let delta = duration.nanosecondsClamped
    if delta >= 0 {
      let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(delta))
      return Instant(nanoseconds: overflow ? .max : sum)
    }
    let back = delta.magnitude
    return Instant(nanoseconds: back > nanoseconds ? 0 : nanoseconds - back)
  }

  /// As `advanced(by:)`, for a time that was counted in nanoseconds once and is added often: `Duration` has 128 bits,
  /// and to divide them costs more than a look at the clock.
  public func advanced(byNanoseconds delta: UInt64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  public func duration(to other: Instant) -> Duration {
    other.nanoseconds >= nanoseconds
      ? .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
      : .nanoseconds(-Int64(clamping: nanoseconds - other.nanoseconds))
  }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

/// A point in civil time: milliseconds since 1970-01-01T00:00:00Z, leap seconds ignored as in POSIX.
public struct WallTime: Comparable, Hashable, Sendable {
  public var milliseconds: Int64

  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  public init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
  }

  /// Whole seconds, rounded down.
  public var seconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  public func advanced(by duration: Duration) -> WallTime {
    let (sum, overflow) = milliseconds.addingReportingOverflow(duration.milliseconds)
    return WallTime(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// Clamped to what 64 bits of milliseconds hold.
  public func duration(to other: WallTime) -> Duration {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (other > self ? .max : .min) : difference)
  }

  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero, clamped to `Int64`.
  public var milliseconds: Int64 {
    nanosecondsClamped / 1_000_000
  }

  /// For `Instant.advanced(byNanoseconds:)`: 0 for a time before zero, at most 292 years.
  public var nanosecondsForward: UInt64 { UInt64(max(0, nanosecondsClamped)) }

  /// Nanoseconds clamped to `Int64` (292 years either way).
  public var nanosecondsClamped: Int64 {
    let (whole, fraction) = components
    let (product, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return whole < 0 ? .min : .max }
    let (sum, overflow2) = product.addingReportingOverflow(fraction / 1_000_000_000)
    return overflow2 ? (whole < 0 ? .min : .max) : sum
  }
}
