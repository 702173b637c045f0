package import Foundation
package import PabalPrimitives

extension Date {
  package init(wall: WallTime) {
    self.init(timeIntervalSince1970: Double(wall.milliseconds) / 1000)
  }
}

extension WallTime {
  /// To the nearest millisecond.
  package init(date: Date) {
    self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
  }
}
