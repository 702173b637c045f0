#if !os(iOS)
internal import Foundation
internal import PabalPrimitives
internal import PabalSimUIKit
internal import PabalSimUserNotifications

/// One run of the app: its own application object, its own centre, the app's delegate.
///
/// On a phone a killed process is gone. Here its objects may live on, so every call carries the number of the process
/// that made it, and a call of an ended one does nothing but leave a defect.
@MainActor final class AppProcess {
  nonisolated let number: Int
  nonisolated let centre: UNUserNotificationCenter
  /// Held weakly, as Apple's centre holds it.
  nonisolated let centreDelegate: Locked<WeakCentreDelegate>
  let application: UIApplication
  private(set) var delegate: (any UIApplicationDelegate)?

  init(
    number: Int, centre: UNUserNotificationCenter, centreDelegate: Locked<WeakCentreDelegate>,
    application: UIApplication
  ) {
    self.number = number
    self.centre = centre
    self.centreDelegate = centreDelegate
    self.application = application
  }

  func start(_ makeDelegate: @MainActor () -> any UIApplicationDelegate) {
    let delegate = makeDelegate()
    self.delegate = delegate
    application.delegate = delegate
  }
}

struct WeakCentreDelegate {
  weak var object: (any UNUserNotificationCenterDelegate)?
}
#endif
