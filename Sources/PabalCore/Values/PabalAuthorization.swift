public import PabalModel

/// What the user allows, as the system last said.
public struct PabalAuthorization: Sendable, Hashable {
  public var permission: NotificationPermission
  public var alerts: Bool
  public var sounds: Bool
  public var badges: Bool
  public var lockScreen: Bool

  public init(permission: NotificationPermission, alerts: Bool, sounds: Bool, badges: Bool, lockScreen: Bool) {
    self.permission = permission
    self.alerts = alerts
    self.sounds = sounds
    self.badges = badges
    self.lockScreen = lockScreen
  }

  /// Whether a push with text is shown anywhere at all.
  public var mayShow: Bool {
    switch permission {
    case .granted, .provisional, .ephemeral: true
    case .denied, .notDetermined: false
    }
  }
}

/// What `requestAuthorization` asks the user for.
public struct PabalAuthorizationOptions: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Banners, sounds and badges.
  public static let standard = PabalAuthorizationOptions(rawValue: 1)
  /// Quiet delivery at once, without a prompt.
  public static let provisional = PabalAuthorizationOptions(rawValue: 2)
}
