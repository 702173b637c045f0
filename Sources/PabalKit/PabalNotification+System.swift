internal import Foundation
internal import PabalPrimitives

#if os(iOS)
@preconcurrency public import UserNotifications
#else
public import PabalSimUserNotifications
#endif

extension PabalNotification {
  /// Copies what the SDK needs of the system's object, so that it can go to another thread.
  public init(_ notification: UNNotification) {
    let content = notification.request.content
    let payload = UserInfoReader.json(content.userInfo)
    self.init(
      requestID: notification.request.identifier, title: content.title, body: content.body,
      category: content.categoryIdentifier, threadID: content.threadIdentifier,
      date: WallTime(date: notification.date), identity: UserInfoReader.identity(payload),
      link: PabalLink(payload: payload))
  }
}

extension PabalInteraction {
  /// Copies what the user did.
  public init(_ response: UNNotificationResponse) {
    let kind: Kind
    switch response.actionIdentifier {
    case UNNotificationDefaultActionIdentifier: kind = .open
    case UNNotificationDismissActionIdentifier: kind = .dismiss
    case let identifier:
      if let input = response as? UNTextInputNotificationResponse {
        kind = .reply(identifier, text: input.userText)
      } else {
        kind = .action(identifier)
      }
    }
    self.init(kind, of: PabalNotification(response.notification))
  }
}

extension PabalPresentation {
  /// As the system wants it answered.
  public var options: UNNotificationPresentationOptions {
    var options: UNNotificationPresentationOptions = []
    if contains(.banner) { options.insert(.banner) }
    if contains(.list) { options.insert(.list) }
    if contains(.sound) { options.insert(.sound) }
    if contains(.badge) { options.insert(.badge) }
    return options
  }
}
