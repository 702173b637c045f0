public import Foundation

#if os(iOS)
@preconcurrency public import UIKit
#else
public import PabalSimUIKit
#endif

/// An application delegate that only has to say which client it wants:
///
/// ```swift
/// final class ShopAppDelegate: PabalAppDelegate {
///   override class func makeClient() -> PabalClient {
///     PabalClient(.init(server: api, key: "pp_live_…", appGroup: "group.com.example.shop"))
///   }
/// }
/// ```
///
/// With an application delegate of your own, forward its three calls to `start()`, `didRegister(deviceToken:)` and
/// `didFailToRegister(_:)`. Nothing is ever swizzled.
@available(iOSApplicationExtension, unavailable)
@MainActor open class PabalAppDelegate: NSObject, UIApplicationDelegate {
  /// Made when the app launches.
  public private(set) lazy var client: PabalClient = Self.makeClient()

  /// Override this.
  open class func makeClient() -> PabalClient {
    preconditionFailure("Override makeClient() in your subclass of PabalAppDelegate and return the app's PabalClient.")
  }

  /// Call `super` first when you override it. The launch options are not read: the tap that started the app comes to
  /// the notification delegate as well, and a silent push that started it is no tap.
  open func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    client.start()
    return true
  }

  open func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    client.didRegister(deviceToken: deviceToken)
  }

  open func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) {
    client.didFailToRegister(error)
  }
}
