#if !os(iOS)
import Foundation

/// What a `UNUserNotificationCenter` does when it is called: the simulated phone's end of the object.
///
/// On a device the object talks to a system service; here the phone fills in these closures. Each may be called on
/// any thread. Completion handlers are called on a queue of the phone's, never on the main thread.
public struct NotificationCenterCalls: Sendable {
  public var delegate: @Sendable () -> (any UNUserNotificationCenterDelegate)?
  /// Must hold the delegate weakly, as Apple's centre does.
  public var setDelegate: @Sendable ((any UNUserNotificationCenterDelegate)?) -> Void
  public var requestAuthorization:
    @Sendable (UNAuthorizationOptions, @escaping @Sendable (Bool, (any Error)?) -> Void) -> Void
  public var setCategories: @Sendable (Set<UNNotificationCategory>) -> Void
  public var categories: @Sendable (@escaping @Sendable (Set<UNNotificationCategory>) -> Void) -> Void
  public var settings: @Sendable (@escaping @Sendable (UNNotificationSettings) -> Void) -> Void
  public var add: @Sendable (UNNotificationRequest, (@Sendable ((any Error)?) -> Void)?) -> Void
  public var pending: @Sendable (@escaping @Sendable ([UNNotificationRequest]) -> Void) -> Void
  /// nil means all of them.
  public var removePending: @Sendable ([String]?) -> Void
  public var delivered: @Sendable (@escaping @Sendable ([UNNotification]) -> Void) -> Void
  /// nil means all of them.
  public var removeDelivered: @Sendable ([String]?) -> Void
  public var setBadgeCount: @Sendable (Int, (@Sendable ((any Error)?) -> Void)?) -> Void

  public init(
    delegate: @escaping @Sendable () -> (any UNUserNotificationCenterDelegate)?,
    setDelegate: @escaping @Sendable ((any UNUserNotificationCenterDelegate)?) -> Void,
    requestAuthorization:
      @escaping @Sendable (UNAuthorizationOptions, @escaping @Sendable (Bool, (any Error)?) -> Void) -> Void,
    setCategories: @escaping @Sendable (Set<UNNotificationCategory>) -> Void,
    categories: @escaping @Sendable (@escaping @Sendable (Set<UNNotificationCategory>) -> Void) -> Void,
    settings: @escaping @Sendable (@escaping @Sendable (UNNotificationSettings) -> Void) -> Void,
    add: @escaping @Sendable (UNNotificationRequest, (@Sendable ((any Error)?) -> Void)?) -> Void,
    pending: @escaping @Sendable (@escaping @Sendable ([UNNotificationRequest]) -> Void) -> Void,
    removePending: @escaping @Sendable ([String]?) -> Void,
    delivered: @escaping @Sendable (@escaping @Sendable ([UNNotification]) -> Void) -> Void,
    removeDelivered: @escaping @Sendable ([String]?) -> Void,
    setBadgeCount: @escaping @Sendable (Int, (@Sendable ((any Error)?) -> Void)?) -> Void
  ) {
    self.delegate = delegate
    self.setDelegate = setDelegate
    self.requestAuthorization = requestAuthorization
    self.setCategories = setCategories
    self.categories = categories
    self.settings = settings
    self.add = add
    self.pending = pending
    self.removePending = removePending
    self.delivered = delivered
    self.removeDelivered = removeDelivered
    self.setBadgeCount = setBadgeCount
  }
}

/// Which phone's singletons this task sees, so that several phones live in one process.
public enum SimulatedNotificationCenter {
  /// What `UNUserNotificationCenter.current()` answers. A phone sets it around every call into the app.
  @TaskLocal public static var current: UNUserNotificationCenter?
}
#endif
