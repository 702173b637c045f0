#if !os(iOS)
public import Foundation

/// What a person sees of this app's notifications. Only `PabalSimulation` writes it.
public struct PhoneScreen: Sendable, Equatable {
  /// Cards on the locked screen, newest first. Arrived while the app was not in front; gone when it comes to front.
  public internal(set) var lockScreen: [NotificationCard] = []
  /// Banners over the app in front, newest first. Gone when the app leaves the front or the user dismisses them.
  public internal(set) var banners: [NotificationCard] = []
  /// Notification Centre, newest first.
  public internal(set) var list: [NotificationCard] = []
  /// The number on the app's icon; 0 is none.
  public internal(set) var badge = 0
  /// The system's permission alert, while it waits for the user.
  public internal(set) var permissionPrompt: PermissionPrompt?

  /// An empty screen.
  public init() {}
}

/// One notification as it is drawn.
public struct NotificationCard: Sendable, Equatable, Identifiable {
  public let id: String
  public let title: String
  public let subtitle: String
  public let body: String
  public let attachments: [CardAttachment]
  /// The buttons of its category, in order.
  public let buttons: [CardButton]
  public let thread: String
  public let date: Date
}

public struct CardAttachment: Sendable, Equatable {
  public let identifier: String
  /// A uniform type identifier, such as `public.png`.
  public let type: String
  /// In the phone's own store.
  public let file: URL
  public let byteCount: Int
}

public struct CardButton: Sendable, Equatable {
  public let identifier: String
  public let title: String
  public let isDestructive: Bool
  /// The button opens a text field with this placeholder.
  public let placeholder: String?
}

public struct PermissionPrompt: Sendable, Equatable {
  public let asksForAlerts: Bool
  public let asksForSounds: Bool
  public let asksForBadges: Bool
}
#endif
