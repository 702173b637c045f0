public import PabalKit

/// Where a notification of this market leads.
public enum TalentMarketScreen: Sendable, Hashable {
  case home
  case talentRequest(id: String)
  case chatRoom(id: String)
  case reviews
  case settings

  /// The guide's routing table: the root key `type` names the screen. nil for a type that this version does not know:
  /// then the app just opens.
  public init?(_ link: PabalLink) {
    switch link.type {
    case "talent_request":
      guard let id = link["requestId"] else { return nil }
      self = .talentRequest(id: id)
    case "message":
      guard let id = link["chatRoomId"] else { return nil }
      self = .chatRoom(id: id)
    case "review": self = .reviews
    default: return nil
    }
  }

  /// The name under which the presentation rules know it.
  var pabalScreen: PabalScreen {
    switch self {
    case .home: "home"
    case .talentRequest(let id): PabalScreen("talentRequest", id: id)
    case .chatRoom(let id): .chatRoom(id)
    case .reviews: "reviews"
    case .settings: "settings"
    }
  }
}
