/// A thing that users can switch off, with the words for a settings screen.
struct PreferenceCategory: Sendable {
  let name: String
  let isOnByDefault: Bool
  let korean: String
  let english: String

  /// The guide's three, and `review`, for which the guide has a push but no switch.
  static let all = [
    PreferenceCategory(name: "marketing", isOnByDefault: false, korean: "혜택 및 이벤트", english: "Offers and events"),
    PreferenceCategory(name: "message", isOnByDefault: true, korean: "채팅 메시지", english: "Chat messages"),
    PreferenceCategory(name: "talentRequest", isOnByDefault: true, korean: "재능 요청", english: "Talent requests"),
    PreferenceCategory(name: "review", isOnByDefault: true, korean: "리뷰", english: "Reviews"),
  ]
}
