public import Foundation
public import PabalModel

extension DeviceToken {
  /// From the bytes that the app delegate receives, never from their printed form. `nil` for no bytes or too many.
  public init?(data: Data) {
    self.init(bytes: Array(data))
  }
}
