internal import Foundation
internal import PabalPrimitives

#if os(iOS)
@preconcurrency internal import UIKit
@preconcurrency internal import UserNotifications
#else
internal import PabalSimUIKit
internal import PabalSimUserNotifications
#endif

/// The system's singletons, read here and nowhere else, once, while `PabalClient.init` runs.
@available(iOSApplicationExtension, unavailable)
@MainActor final class LiveSystem {
  private let centre: UNUserNotificationCenter
  private let application: UIApplication
  private let notices: NotificationCenter
  private var observers: [any NSObjectProtocol] = []

  init() {
    centre = .current()
    application = .shared
    notices = .default
  }

  func stopObserving() {
    for observer in observers { notices.removeObserver(observer) }
    observers = []
  }

  func setDelegate(_ delegate: any UNUserNotificationCenterDelegate) {
    centre.delegate = delegate
  }

  /// The system answers the application delegate with a token, later.
  func registerForRemoteNotifications() {
    application.registerForRemoteNotifications()
  }

  /// Calls back on the main actor each time the app comes back to the front.
  func onForeground(_ body: @escaping @MainActor @Sendable () -> Void) {
    let observer = notices.addObserver(
      forName: UIApplication.willEnterForegroundNotification, object: application, queue: nil
    ) { _ in
      MainActor.assumeIsolated { body() }
    }
    observers.append(observer)
  }

  /// Calls back on the main actor each time the app leaves the front. Whatever `body` does may take the seconds that
  /// the system grants.
  func onBackground(_ body: @escaping @MainActor @Sendable (_ done: @escaping @MainActor @Sendable () -> Void) -> Void)
  {
    let application = application
    let observer = notices.addObserver(
      forName: UIApplication.didEnterBackgroundNotification, object: application, queue: nil
    ) { _ in
      MainActor.assumeIsolated {
        let grant = BackgroundGrant(application)
        body { grant.end() }
      }
    }
    observers.append(observer)
  }

  /// The system's leave to go on for a while; given back once, by us or when it runs out.
  @MainActor private final class BackgroundGrant {
    private let application: UIApplication
    private var id = UIBackgroundTaskIdentifier.invalid

    init(_ application: UIApplication) {
      self.application = application
      id = application.beginBackgroundTask { [weak self] in self?.end() }
    }

    func end() {
      guard id != .invalid else { return }
      application.endBackgroundTask(id)
      id = .invalid
    }
  }

  /// Adds our categories to those that are registered: the call replaces the whole set, and others use it too.
  func install(_ categories: [PabalActionCategory]) {
    guard !categories.isEmpty else { return }
    let centre = centre
    centre.getNotificationCategories { present in
      let ours = Set(categories.map(\.id))
      var all = present.filter { !ours.contains($0.identifier) }
      for category in categories { all.insert(Self.category(category)) }
      centre.setNotificationCategories(all)
    }
  }

  func authorization() async -> PabalAuthorization {
    await withCheckedContinuation { continuation in
      centre.getNotificationSettings { settings in
        continuation.resume(returning: Self.authorization(settings))
      }
    }
  }

  /// Shows the system's prompt if the user has not answered it yet.
  func requestAuthorization(_ options: PabalAuthorizationOptions) async throws {
    var asked: UNAuthorizationOptions = [.alert, .sound, .badge]
    if options.contains(.provisional) { asked.insert(.provisional) }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      centre.requestAuthorization(options: asked) { _, error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  func removeDeliveredNotifications() {
    centre.removeAllDeliveredNotifications()
  }

  func openNotificationSettings() {
    guard let url = URL(string: UIApplication.openNotificationSettingsURLString) else { return }
    application.open(url)
  }

  private nonisolated static func category(_ category: PabalActionCategory) -> UNNotificationCategory {
    let actions = category.actions.map { action -> UNNotificationAction in
      var options: UNNotificationActionOptions = []
      if action.options.contains(.authenticationRequired) { options.insert(.authenticationRequired) }
      if action.options.contains(.destructive) { options.insert(.destructive) }
      if action.options.contains(.foreground) { options.insert(.foreground) }
      guard let input = action.textInput else {
        return UNNotificationAction(identifier: action.id, title: action.title, options: options)
      }
      return UNTextInputNotificationAction(
        identifier: action.id, title: action.title, options: options, textInputButtonTitle: input.button,
        textInputPlaceholder: input.placeholder)
    }
    return UNNotificationCategory(
      identifier: category.id, actions: actions, intentIdentifiers: [],
      options: category.reportsDismissal ? .customDismissAction : [])
  }

  private nonisolated static func authorization(_ settings: UNNotificationSettings) -> PabalAuthorization {
    let permission: NotificationPermission =
      switch settings.authorizationStatus {
      case .notDetermined: .notDetermined
      case .denied: .denied
      case .authorized: .granted
      case .provisional: .provisional
      case .ephemeral: .ephemeral
      @unknown default: .notDetermined
      }
    return PabalAuthorization(
      permission: permission, alerts: settings.alertSetting == .enabled, sounds: settings.soundSetting == .enabled,
      badges: settings.badgeSetting == .enabled, lockScreen: settings.lockScreenSetting == .enabled)
  }
}
