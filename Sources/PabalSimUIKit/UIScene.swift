#if !os(iOS)
public import Foundation
public import PabalSimUserNotifications

/// https://developer.apple.com/documentation/uikit/uiscene
@MainActor open class UIScene: UIResponder {
  /// What a scene was opened for.
  /// https://developer.apple.com/documentation/uikit/uiscene/connectionoptions
  @MainActor open class ConnectionOptions: NSObject {
    /// The tap that opened the scene; `userNotificationCenter(_:didReceive:)` tells of the same tap.
    public let notificationResponse: UNNotificationResponse?

    /// Only the system makes connection options.
    public init(simulated notificationResponse: UNNotificationResponse?) {
      self.notificationResponse = notificationResponse
      super.init()
    }
  }
}
#endif
