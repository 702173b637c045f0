/// How a notification shows while the app is in the foreground.
public struct PabalPresentation: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  public static let banner = PabalPresentation(rawValue: 1)
  public static let list = PabalPresentation(rawValue: 2)
  public static let sound = PabalPresentation(rawValue: 4)
  public static let badge = PabalPresentation(rawValue: 8)

  public static let full: PabalPresentation = [.banner, .list, .sound, .badge]
  public static let silent: PabalPresentation = []
}

/// A screen of the app that a rule can name: a chat room, the checkout, …
public struct PabalScreen: Sendable, Hashable, ExpressibleByStringLiteral {
  public let name: String
  /// Which of several screens of that name, such as a room's identifier.
  public let id: String?

  public init(_ name: String, id: String? = nil) {
    self.name = name
    self.id = id
  }

  public init(stringLiteral name: String) {
    self.init(name)
  }

  public static func chatRoom(_ id: String) -> PabalScreen {
    PabalScreen("chatRoom", id: id)
  }
}

/// Decides how a notification shows over the screens that are visible: the first rule that matches.
public struct PabalPresentationPolicy: Sendable {
  public struct Rule: Sendable {
    let matches: @Sendable (PabalNotification, Set<PabalScreen>) -> Bool
    let presentation: PabalPresentation

    public init(
      _ presentation: PabalPresentation, when matches: @escaping @Sendable (PabalNotification, Set<PabalScreen>) -> Bool
    ) {
      self.presentation = presentation
      self.matches = matches
    }

    /// For a push of the chat room that is open: its root key `key` names the room.
    public static func inOpenChatRoom(
      key: String = "chatRoomId", _ presentation: PabalPresentation = .silent
    ) -> Rule {
      Rule(presentation) { notification, screens in
        notification.link[key].map { screens.contains(.chatRoom($0)) } ?? false
      }
    }

    /// For every push while that screen is visible.
    public static func on(_ screen: PabalScreen, _ presentation: PabalPresentation = .silent) -> Rule {
      Rule(presentation) { _, screens in screens.contains(screen) }
    }

    /// For pushes whose root key `type` has this value.
    public static func ofType(_ type: String, _ presentation: PabalPresentation) -> Rule {
      Rule(presentation) { notification, _ in notification.link.type == type }
    }
  }

  private let rules: [Rule]
  private let otherwise: PabalPresentation

  public init(_ rules: [Rule], otherwise: PabalPresentation = .full) {
    self.rules = rules
    self.otherwise = otherwise
  }

  /// Silent in the chat room that is open, shown everywhere else.
  public static let standard = PabalPresentationPolicy([.inOpenChatRoom()])

  public func presentation(for notification: PabalNotification, over screens: Set<PabalScreen>) -> PabalPresentation {
    rules.first { $0.matches(notification, screens) }?.presentation ?? otherwise
  }
}
