#if !os(iOS)
public import Foundation

/// What a `UIApplication` does when it is called: the simulated phone's end of the object. All on the main actor.
public struct ApplicationCalls: Sendable {
  public var register: @MainActor @Sendable () -> Void
  public var unregister: @MainActor @Sendable () -> Void
  public var isRegistered: @MainActor @Sendable () -> Bool
  public var state: @MainActor @Sendable () -> UIApplication.State
  /// Answers whether the phone could open the address.
  public var open: @MainActor @Sendable (URL) -> Bool
  public var beginBackgroundTask: @MainActor @Sendable (_ expired: (@MainActor @Sendable () -> Void)?) -> Int
  public var endBackgroundTask: @MainActor @Sendable (Int) -> Void

  public init(
    register: @escaping @MainActor @Sendable () -> Void,
    unregister: @escaping @MainActor @Sendable () -> Void,
    isRegistered: @escaping @MainActor @Sendable () -> Bool,
    state: @escaping @MainActor @Sendable () -> UIApplication.State,
    open: @escaping @MainActor @Sendable (URL) -> Bool,
    beginBackgroundTask: @escaping @MainActor @Sendable (_ expired: (@MainActor @Sendable () -> Void)?) -> Int,
    endBackgroundTask: @escaping @MainActor @Sendable (Int) -> Void
  ) {
    self.register = register
    self.unregister = unregister
    self.isRegistered = isRegistered
    self.state = state
    self.open = open
    self.beginBackgroundTask = beginBackgroundTask
    self.endBackgroundTask = endBackgroundTask
  }
}

/// Which phone's singletons this task sees, so that several phones live in one process.
public enum SimulatedApplication {
  /// What `UIApplication.shared` answers. A phone sets it around every call into the app.
  @TaskLocal public static var current: UIApplication?
}

/// https://developer.apple.com/documentation/uikit/uiresponder
@MainActor open class UIResponder: NSObject {}

/// Look-alike of the slice of Apple's class that a push client needs, in Apple's spellings.
/// https://developer.apple.com/documentation/uikit/uiapplication
@MainActor open class UIApplication: UIResponder {
  /// https://developer.apple.com/documentation/uikit/uiapplication/state
  public enum State: Int, Sendable {
    case active = 0
    case inactive = 1
    case background = 2
  }

  /// https://developer.apple.com/documentation/uikit/uiapplication/launchoptionskey
  public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let remoteNotification = Self(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    public static let url = Self(rawValue: "UIApplicationLaunchOptionsURLKey")
  }

  /// https://developer.apple.com/documentation/uikit/uiapplication/openexternalurloptionskey
  public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  private let calls: ApplicationCalls

  public init(calls: ApplicationCalls) {
    self.calls = calls
    super.init()
  }

  /// The application of the phone that this task runs on. Traps outside of a phone.
  open class var shared: UIApplication {
    guard let application = SimulatedApplication.current else {
      preconditionFailure("UIApplication.shared outside of a phone: use SimulatedPhone.asApp")
    }
    return application
  }

  open weak var delegate: (any UIApplicationDelegate)?

  open var applicationState: State { calls.state() }
  open var isRegisteredForRemoteNotifications: Bool { calls.isRegistered() }

  /// The answer comes to the delegate: a token or an error, on the main actor, later.
  open func registerForRemoteNotifications() { calls.register() }
  open func unregisterForRemoteNotifications() { calls.unregister() }

  open func open(
    _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
    completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
  ) {
    let opened = calls.open(url)
    completion?(opened)
  }

  open func beginBackgroundTask(
    withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    UIBackgroundTaskIdentifier(rawValue: calls.beginBackgroundTask(handler))
  }

  open func beginBackgroundTask(
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    beginBackgroundTask(withName: nil, expirationHandler: handler)
  }

  open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
    calls.endBackgroundTask(identifier.rawValue)
  }

  public nonisolated static let openSettingsURLString = "app-settings:"
  public nonisolated static let openNotificationSettingsURLString = "app-settings:notifications"

  // Posted to `NotificationCenter.default` with the application as object.
  public nonisolated static let didFinishLaunchingNotification =
    Notification.Name("UIApplicationDidFinishLaunchingNotification")
  public nonisolated static let willEnterForegroundNotification =
    Notification.Name("UIApplicationWillEnterForegroundNotification")
  public nonisolated static let didBecomeActiveNotification =
    Notification.Name("UIApplicationDidBecomeActiveNotification")
  public nonisolated static let willResignActiveNotification =
    Notification.Name("UIApplicationWillResignActiveNotification")
  public nonisolated static let didEnterBackgroundNotification =
    Notification.Name("UIApplicationDidEnterBackgroundNotification")
}

/// https://developer.apple.com/documentation/uikit/uibackgroundtaskidentifier
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let invalid = Self(rawValue: 0)
}

/// https://developer.apple.com/documentation/uikit/uibackgroundfetchresult
public enum UIBackgroundFetchResult: UInt, Sendable {
  case newData = 0
  case noData = 1
  case failed = 2
}
#endif
