import Delivery
import PabalPrimitives

/// `T+seconds` on the machines' clock.
func at(_ seconds: Double) -> Instant {
  Instant.zero.advanced(by: .milliseconds(Int64(seconds * 1000)))
}

extension ConnectionKey: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int32) {
    self.init(rawValue: value)
  }
}

extension PushTag: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: UInt64) {
    self.init(rawValue: value)
  }
}
