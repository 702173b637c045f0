public import Foundation
internal import PabalPrimitives

#if os(iOS)
@preconcurrency public import UserNotifications
#else
public import PabalSimUserNotifications
#endif

/// The delegate of the notification centre. A client makes one when it starts; make one yourself only to pass what is
/// not Pabal's on to another delegate of your app.
///
/// The system calls it on any thread and through its completion handlers; each is answered exactly once, on the main
/// actor. Push SDKs side by side: whoever is passed a notification by this object and passes it back here gets an empty
/// answer, not an endless loop.
@available(iOSApplicationExtension, unavailable)
public final class PabalNotificationDelegate: NSObject, UNUserNotificationCenterDelegate {
  private let core: ClientCore
  private let other: OtherDelegate
  /// What is with the other delegate now.
  private let passed = Locked<Set<String>>([])

  /// Installs itself as the centre's delegate; the client keeps it.
  ///
  /// - Parameter other: gets the notifications without Pabal's identity. Held weakly.
  @MainActor public init(client: PabalClient, forwardingTo other: (any UNUserNotificationCenterDelegate)? = nil) {
    core = client.core
    self.other = OtherDelegate(other)
    super.init()
    client.keep(self)
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    let value = PabalNotification(notification)
    let answer = AnswerOnce(completionHandler)
    if value.identity == nil, other.isSet {
      let key = "present " + value.requestID
      guard passed.withLock({ $0.insert(key).inserted }) else {
        core.onMain { _ in answer.give([]) }
        return
      }
      other.willPresent(center, notification) { [core] options in core.onMain { _ in answer.give(options) } }
      passed.withLock { _ = $0.remove(key) }
      return
    }
    core.onMain { core in answer.give(core.present(value).options) }
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    let value = PabalInteraction(response)
    let answer = AnswerOnce<Void> { _ in completionHandler() }
    if value.notification.identity == nil, other.isSet {
      let key = value.actionName + " " + value.notification.requestID
      guard passed.withLock({ $0.insert(key).inserted }) else {
        core.onMain { _ in answer.give(()) }
        return
      }
      other.didReceive(center, response) { [core] in core.onMain { _ in answer.give(()) } }
      passed.withLock { _ = $0.remove(key) }
      return
    }
    core.onMain { core in core.receive(value) { answer.give(()) } }
  }
}

/// The app's other delegate, held weakly.
private final class OtherDelegate: Sendable {
  // Set once, here; reading a weak reference is atomic. The system itself calls delegates on any thread, so whoever is
  // one must be ready for that.
  private nonisolated(unsafe) weak var object: (any UNUserNotificationCenterDelegate)?

  init(_ object: (any UNUserNotificationCenterDelegate)?) {
    self.object = object
  }

  var isSet: Bool { object != nil }

  /// Answers `[]` for a delegate that is gone or lacks the method.
  func willPresent(
    _ center: UNUserNotificationCenter, _ notification: UNNotification,
    _ done: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
  ) {
    guard let object else { return done([]) }
    #if os(iOS)
    if object.userNotificationCenter?(center, willPresent: notification, withCompletionHandler: done) == nil {
      done([])
    }
    #else
    object.userNotificationCenter(center, willPresent: notification, withCompletionHandler: done)
    #endif
  }

  func didReceive(
    _ center: UNUserNotificationCenter, _ response: UNNotificationResponse, _ done: @escaping @Sendable () -> Void
  ) {
    guard let object else { return done() }
    #if os(iOS)
    if object.userNotificationCenter?(center, didReceive: response, withCompletionHandler: done) == nil { done() }
    #else
    object.userNotificationCenter(center, didReceive: response, withCompletionHandler: done)
    #endif
  }
}
