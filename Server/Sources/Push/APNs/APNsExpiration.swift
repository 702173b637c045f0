package import PabalPrimitives

/// Value of `apns-expiration`. Absent (`nil` where it is optional) leaves storage to APNs' default.
package enum APNsExpiration: Hashable, Sendable {
  /// `0`: one attempt, not stored.
  case attemptOnce
  /// Stored and tried again until then, at most 30 days.
  case at(WallTime)

  /// - Throws: `header_invalid` for a negative number, or one that can only be milliseconds.
  package init(unixSeconds: Int64) throws(APNsRequestError) {
    guard unixSeconds >= 0 else { throw .header("The expiration must not be negative. Give UNIX seconds, or 0.") }
    guard unixSeconds < APNsLimits.firstImplausibleExpiration else {
      throw .header("The expiration looks like milliseconds. Give UNIX seconds, 0, or +DURATION such as +1h.")
    }
    self = unixSeconds == 0 ? .attemptOnce : .at(WallTime(seconds: unixSeconds))
  }

  /// A time to live that starts at `now`; zero means one attempt.
  package init(timeToLive: Duration, now: WallTime) {
    self = timeToLive <= .zero ? .attemptOnce : .at(now.advanced(by: timeToLive))
  }

  /// The header's number: UNIX seconds.
  package var unixSeconds: Int64 {
    switch self {
    case .attemptOnce: 0
    case .at(let time): time.seconds
    }
  }

  /// Whether the time is over; such a push is not sent any more but counted as expired.
  package func isPast(at now: WallTime) -> Bool {
    switch self {
    case .attemptOnce: false
    case .at(let time): time <= now
    }
  }
}
