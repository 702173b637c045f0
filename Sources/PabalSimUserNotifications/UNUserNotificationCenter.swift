#if !os(iOS)
public import Foundation

/// Look-alike of Apple's class of the same name, in Apple's spellings.
/// https://developer.apple.com/documentation/usernotifications/unusernotificationcenter
public final class UNUserNotificationCenter: NSObject, Sendable {
  private let calls: NotificationCenterCalls

  public init(calls: NotificationCenterCalls) {
    self.calls = calls
    super.init()
  }

  /// The centre of the phone that this task runs on. Traps outside of a phone, as Apple's does outside of an app.
  public class func current() -> UNUserNotificationCenter {
    guard let centre = SimulatedNotificationCenter.current else {
      preconditionFailure("UNUserNotificationCenter.current() outside of a phone: use SimulatedPhone.asApp")
    }
    return centre
  }

  public weak var delegate: (any UNUserNotificationCenterDelegate)? {
    get { calls.delegate() }
    set { calls.setDelegate(newValue) }
  }

  public var supportsContentExtensions: Bool { true }

  public func requestAuthorization(
    options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    calls.requestAuthorization(options, completionHandler)
  }

  public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      calls.requestAuthorization(options) { granted, error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: granted) }
      }
    }
  }

  /// Replaces the whole set.
  public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
    calls.setCategories(categories)
  }

  public func getNotificationCategories(
    completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
  ) {
    calls.categories(completionHandler)
  }

  public func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
    calls.settings(completionHandler)
  }

  public func add(
    _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    calls.add(request, completionHandler)
  }

  public func getPendingNotificationRequests(
    completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
  ) {
    calls.pending(completionHandler)
  }

  public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    calls.removePending(identifiers)
  }

  public func removeAllPendingNotificationRequests() {
    calls.removePending(nil)
  }

  public func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
    calls.delivered(completionHandler)
  }

  public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    calls.removeDelivered(identifiers)
  }

  public func removeAllDeliveredNotifications() {
    calls.removeDelivered(nil)
  }

  public func setBadgeCount(
    _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    calls.setBadgeCount(newBadgeCount, completionHandler)
  }
}

/// Look-alike of Apple's protocol. All methods are optional there; here a default answers as a missing method does.
///
/// Only the completion-handler forms exist: on Apple's system the `async` forms crash in the field when they are not
/// on the main actor, and here the centre could not tell which of two spellings an app has implemented.
/// https://developer.apple.com/documentation/usernotifications/unusernotificationcenterdelegate
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)

  func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([])
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    completionHandler()
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
  ) {}
}
#endif
