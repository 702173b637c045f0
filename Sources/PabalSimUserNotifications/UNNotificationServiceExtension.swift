#if !os(iOS)
public import Foundation

/// The base class of an app's notification service extension. The system makes an object of the app's subclass for
/// each notification.
/// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension
open class UNNotificationServiceExtension: NSObject {
  public override init() {
    super.init()
  }

  /// Called on a thread of the system's. `contentHandler` must be called exactly once, within about 30 seconds.
  open func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    contentHandler(request.content)
  }

  /// The time is nearly over; called on another thread than `didReceive`. Last chance to call the handler.
  open func serviceExtensionTimeWillExpire() {}
}
#endif
