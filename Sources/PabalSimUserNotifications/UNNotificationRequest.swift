#if !os(iOS)
public import Foundation

/// https://developer.apple.com/documentation/usernotifications/unnotificationrequest
open class UNNotificationRequest: NSObject {
  public let identifier: String
  public let content: UNNotificationContent
  public let trigger: UNNotificationTrigger?

  /// The content is copied: later changes to a mutable one are not seen.
  public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    self.identifier = identifier
    self.content = UNNotificationContent(fields: content.fields)
    self.trigger = trigger
    super.init()
  }
}

/// https://developer.apple.com/documentation/usernotifications/unnotification
open class UNNotification: NSObject {
  public let date: Date
  public let request: UNNotificationRequest

  /// Only the system makes notifications: apps on a device have no such initialiser.
  public init(simulatedAt date: Date, request: UNNotificationRequest) {
    self.date = date
    self.request = request
    super.init()
  }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationtrigger
open class UNNotificationTrigger: NSObject {
  public let repeats: Bool

  init(repeats: Bool) {
    self.repeats = repeats
    super.init()
  }
}

/// The trigger of a notification that APNs delivered.
/// https://developer.apple.com/documentation/usernotifications/unpushnotificationtrigger
open class UNPushNotificationTrigger: UNNotificationTrigger {
  /// Only the system makes push triggers.
  public init(simulated: Void) {
    super.init(repeats: false)
  }
}

/// https://developer.apple.com/documentation/usernotifications/untimeintervalnotificationtrigger
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  /// Seconds.
  public let timeInterval: TimeInterval

  /// Traps, as Apple's raises, unless `timeInterval` > 0, and ≥ 60 s when it repeats.
  public init(timeInterval: TimeInterval, repeats: Bool) {
    precondition(timeInterval > 0, "time interval must be greater than 0")
    precondition(!repeats || timeInterval >= 60, "time interval must be at least 60 if repeating")
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }
}

/// What the user did with a notification.
/// https://developer.apple.com/documentation/usernotifications/unnotificationresponse
open class UNNotificationResponse: NSObject {
  public let notification: UNNotification
  public let actionIdentifier: String

  /// Only the system makes responses.
  public init(simulated notification: UNNotification, actionIdentifier: String) {
    self.notification = notification
    self.actionIdentifier = actionIdentifier
    super.init()
  }
}

/// https://developer.apple.com/documentation/usernotifications/untextinputnotificationresponse
open class UNTextInputNotificationResponse: UNNotificationResponse {
  public let userText: String

  /// Only the system makes responses.
  public init(simulated notification: UNNotification, actionIdentifier: String, userText: String) {
    self.userText = userText
    super.init(simulated: notification, actionIdentifier: actionIdentifier)
  }
}

/// The user opened the app from the notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The user dismissed the notification; told only when its category has `.customDismissAction`.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
#endif
