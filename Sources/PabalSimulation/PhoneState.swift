#if !os(iOS)
internal import Foundation
internal import PabalPrimitives
public import PabalSimUserNotifications

/// Everything that the phone remembers; changed only while `SimulatedPhone.state` is locked.
struct PhoneState {
  enum Process {
    /// `byUser`: swiped away, so that silent pushes no longer start the app.
    case notRunning(byUser: Bool)
    case running(AppProcess, Visibility)
  }

  enum Visibility: Equatable {
    /// On its way to or from the front: a tap is delivered in this state.
    case inactive
    case foreground
    case background
  }

  struct Category {
    var identifier: String
    var actions: [Action]
    var tellsDismissal: Bool
    var allowsCarPlay: Bool
    var hiddenPreviewsBodyPlaceholder: String

    struct Action {
      var identifier: String
      var title: String
      var options: UNNotificationActionOptions
      var textInput: (button: String, placeholder: String)?
    }
  }

  struct Prompt {
    var options: UNAuthorizationOptions
    var answer: @Sendable (Bool) -> Void
  }

  var process = Process.notRunning(byUser: false)
  var processCount = 0
  var isOnline = true
  var isInstalled = true
  var token: [UInt8]?
  var isRegistered = false
  /// The stream ended because another one took over; it is not opened again until the phone goes on-line anew.
  var isStreamLost = false
  var permission = PhonePermission()
  var waitingPrompts: [Prompt] = []
  var plannedPermissionAnswer: Bool?
  var categories: [String: Category] = [:]
  var delivered: [NotificationRecord] = []
  var pending: [NotificationRecord] = []
  var screen = PhoneScreen()
  var soundsPlayed = 0
  var records = RingBuffer<PhoneRecord>(capacity: PhoneLimits.records)
  var defects: [PhoneDefect] = []
  var seenInboxIDs: Set<String> = []
  var seenOrder = RingBuffer<String>(capacity: PhoneLimits.rememberedInboxIDs)

  var wantsStream: Bool { isOnline && isInstalled && token != nil && !isStreamLost }

  var visibility: Visibility? {
    if case .running(_, let visibility) = process { visibility } else { nil }
  }

  var runningProcess: AppProcess? {
    if case .running(let process, _) = process { process } else { nil }
  }

  mutating func setVisibility(_ visibility: Visibility) {
    guard case .running(let process, _) = process else { return }
    self.process = .running(process, visibility)
  }

  /// Whether this inbox id is new; remembers it.
  mutating func isFirst(_ inboxID: String) -> Bool {
    guard seenInboxIDs.insert(inboxID).inserted else { return false }
    if let forgotten = seenOrder.append(inboxID) { seenInboxIDs.remove(forgotten) }
    return true
  }

  // MARK: Screen

  func card(for notification: NotificationRecord) -> NotificationCard {
    let content = notification.content
    return NotificationCard(
      id: notification.id, title: content.title, subtitle: content.subtitle, body: content.body,
      attachments: content.attachments.map { attachment in
        CardAttachment(
          identifier: attachment.identifier, type: attachment.type, file: attachment.url,
          byteCount: attachment.byteCount)
      },
      buttons: (categories[content.categoryIdentifier]?.actions ?? []).map { action in
        CardButton(
          identifier: action.identifier, title: action.title, isDestructive: action.options.contains(.destructive),
          placeholder: action.textInput?.placeholder)
      },
      thread: content.threadIdentifier, date: notification.date)
  }

  /// Draws a notification. One with the same identifier gives way, wherever it was.
  mutating func show(_ notification: NotificationRecord, on options: UNNotificationPresentationOptions) {
    let wasKnown = take(notification.id) != nil
    let card = card(for: notification)
    if options.contains(.banner) {
      if visibility == .foreground { screen.banners.insert(card, at: 0) } else { screen.lockScreen.insert(card, at: 0) }
    }
    if options.contains(.list) { screen.list.insert(card, at: 0) }
    if !options.isDisjoint(with: [.banner, .list]) || wasKnown && !options.isEmpty {
      delivered.insert(notification, at: 0)
    }
    if options.contains(.badge), let badge = notification.content.badge { screen.badge = badge }
    if options.contains(.sound), notification.content.sound != nil { soundsPlayed += 1 }
  }

  /// Removes a notification from everywhere and answers it.
  @discardableResult
  mutating func take(_ id: String) -> NotificationRecord? {
    screen.banners.removeAll { $0.id == id }
    screen.lockScreen.removeAll { $0.id == id }
    screen.list.removeAll { $0.id == id }
    guard let index = delivered.firstIndex(where: { $0.id == id }) else { return nil }
    return delivered.remove(at: index)
  }

  mutating func takeAll() {
    screen.banners = []
    screen.lockScreen = []
    screen.list = []
    delivered = []
  }
}

/// What the user lets this app do, as Settings shows it.
public struct PhonePermission: Sendable, Equatable {
  public internal(set) var status = UNAuthorizationStatus.notDetermined
  public var alerts = false
  public var sounds = false
  public var badges = false
  public var lockScreen = true
  var hasSettingsLink = false

  var showsAlerts: Bool { (status == .authorized || status == .provisional) && alerts }
  /// Provisional notifications come quietly, into the list only.
  var isQuiet: Bool { status == .provisional }

  mutating func grant(_ options: UNAuthorizationOptions, provisionally: Bool) {
    status = provisionally ? .provisional : .authorized
    alerts = options.contains(.alert)
    sounds = options.contains(.sound)
    badges = options.contains(.badge)
    hasSettingsLink = options.contains(.providesAppNotificationSettings)
  }

  mutating func deny() {
    status = .denied
    alerts = false
    sounds = false
    badges = false
  }
}
#endif
