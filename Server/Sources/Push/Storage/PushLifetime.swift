package import PabalPrimitives

/// How long a push may wait for its device.
package enum PushLifetime: Hashable, Sendable {
  /// Now or never: the provider does not keep it, and this server does not repeat it.
  case attemptOnce
  /// Kept and tried until then.
  case until(WallTime)

  /// - Parameter duration: zero means one attempt.
  package init(_ duration: Duration, from start: WallTime) {
    self = duration <= .zero ? .attemptOnce : .until(start.advanced(by: duration))
  }

  /// `nil` when there is no wait at all.
  package var end: WallTime? {
    switch self {
    case .attemptOnce: nil
    case .until(let time): time
    }
  }

  /// Whether nothing may be sent any more at that moment.
  package func isOver(at now: WallTime) -> Bool {
    end.map { $0 <= now } ?? false
  }
}
