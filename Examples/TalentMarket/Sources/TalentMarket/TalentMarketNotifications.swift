import PabalKit

/// The buttons and the manners of this market's notifications.
enum TalentMarketNotifications {
  static let categories = [
    PabalActionCategory("TALENT_REQUEST") {
      PabalAction.accept("ACCEPT_TALENT_REQUEST", title: "수락")
      PabalAction.decline("DECLINE_TALENT_REQUEST", title: "거절")
    },
    PabalActionCategory("MESSAGE") {
      PabalAction.reply("REPLY_MESSAGE", title: "답장", placeholder: "메시지 입력", button: "보내기")
    },
  ]

  /// Silent in the chat room that is open and on the settings screen, shown everywhere else.
  static let presentation = PabalPresentationPolicy([.inOpenChatRoom(), .on("settings")])
}
