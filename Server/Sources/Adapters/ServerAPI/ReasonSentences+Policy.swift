import PabalModel

/// Words for the reasons of audiences, policies and Google's service: part of the API's vocabulary.
extension ReasonSentence {
  static let policies: [String: ReasonSentence] = [
    "not_in_audience": ReasonSentence(
      Sentence("The user is not among those that were chosen.", "선택한 대상에 없는 사용자입니다."),
      do: Sentence("Look at the segment or the list of users.", "세그먼트나 사용자 목록을 확인하세요.")),
    "holdout": ReasonSentence(
      Sentence("The user is in the group that gets nothing, for comparison.", "비교를 위해 보내지 않는 대조군의 사용자입니다."),
      do: Sentence("Nothing: the group is what results are measured by.", "조치할 것이 없습니다. 효과를 재는 기준이 됩니다.")),
    "platform_excluded": ReasonSentence(
      Sentence("The message is not for this platform.", "이 플랫폼으로는 보내지 않는 메시지입니다."),
      do: Sentence("Add the platform to the message.", "메시지에 이 플랫폼을 추가하세요.")),
    "app_version_excluded": ReasonSentence(
      Sentence("The app on the device is too old for the message.", "기기의 앱 버전이 메시지의 조건보다 낮습니다."),
      do: Sentence("It goes out once the user updates the app.", "사용자가 앱을 업데이트하면 받을 수 있습니다.")),
    "os_permission_denied": ReasonSentence(
      Sentence("The system does not let the app show notifications.", "시스템 설정에서 앱의 알림이 꺼져 있습니다."),
      do: Sentence(
        "The app can explain and lead to the system's settings; only the user can allow it.",
        "앱에서 이유를 설명하고 시스템 설정으로 안내하세요. 허용은 사용자만 할 수 있습니다.")),
    "topic_unsubscribed": ReasonSentence(
      Sentence("The user has left the topic.", "사용자가 토픽 구독을 취소했습니다."),
      do: Sentence("The user may subscribe again.", "사용자가 다시 구독할 수 있습니다.")),
    "consent_missing": ReasonSentence(
      Sentence("The user has not agreed to advertising.", "사용자가 광고성 정보 수신에 동의하지 않았습니다."),
      do: Sentence("Ask for consent in the app and record it.", "앱에서 동의를 받아 기록하세요.")),
    "night_consent_missing": ReasonSentence(
      Sentence(
        "Advertising at night (21:00 to 08:00 in Korea) needs a consent of its own.",
        "야간(21시~8시) 광고에는 별도의 동의가 필요합니다."),
      do: Sentence("Send by day, or ask for the consent for the night.", "낮에 보내거나 야간 수신 동의를 받으세요.")),
    "quiet_hours": ReasonSentence(
      Sentence("It is quiet time where the user is.", "사용자가 있는 곳의 방해 금지 시간입니다."),
      do: Sentence(
        "It is held until the morning, or dropped, as its class says.", "등급의 설정에 따라 아침까지 보류되거나 버려집니다.")),
    "frequency_capped": ReasonSentence(
      Sentence("The user has had as many of this class as are allowed.", "이 등급에서 허용된 횟수를 이미 받은 사용자입니다."),
      do: Sentence("Send fewer, or move the type to another class.", "횟수를 줄이거나 알림 유형의 등급을 바꾸세요.")),
    "rate_paced": ReasonSentence(
      Sentence("It waits for its turn at the rate that was set.", "정해진 속도에 따라 차례를 기다립니다."),
      do: Sentence("Raise the rate if it is too slow.", "너무 느리면 속도를 올리세요.")),
    "superseded": ReasonSentence(
      Sentence("A newer message with the same collapse key took its place.", "같은 collapseKey의 새 메시지가 대신합니다."),
      do: Sentence("Look at the newer message.", "새 메시지를 확인하세요.")),
    "message_paused": ReasonSentence(
      Sentence("Somebody has paused the message.", "누군가 메시지를 일시 중지했습니다."),
      do: Sentence("Resume it to go on.", "계속하려면 다시 시작하세요.")),
    "message_canceled": ReasonSentence(
      Sentence("Somebody has cancelled the message.", "누군가 메시지를 취소했습니다."),
      do: Sentence("Make a new message if it is still wanted.", "여전히 필요하면 새 메시지를 만드세요.")),
    "canary_halted": ReasonSentence(
      Sentence("The trial on a few users went badly, so the rest was not sent.", "일부에게 시험 발송한 결과가 나빠 나머지는 보내지 않았습니다."),
      do: Sentence("Look at the reasons of the trial's refusals first.", "시험 발송에서 거부된 이유를 먼저 확인하세요.")),
    "locale_missing": ReasonSentence(
      Sentence("The type has no text in the user's language and no default.", "사용자의 언어와 기본 언어의 문구가 없습니다."),
      do: Sentence("Add the language, or a default, to the type.", "알림 유형에 언어나 기본 문구를 추가하세요.")),
    "breaker_open": ReasonSentence(
      Sentence("The provider failed so often that nothing is tried for a while.", "제공자의 실패가 잦아 잠시 시도를 멈췄습니다."),
      do: Sentence("Wait: one push is tried every few seconds until it works.", "기다리세요. 될 때까지 몇 초마다 하나씩 시도합니다.")),
  ]

  static let googles: [String: ReasonSentence] = [
    "fcm.UNREGISTERED": ReasonSentence(
      Sentence("Google says that the app was removed from the phone.", "앱이 기기에서 삭제되었다고 Google이 알려 왔습니다."),
      do: Sentence("Nothing: the next start of a reinstalled app registers it.", "조치할 것이 없습니다. 다시 설치한 앱을 열면 등록됩니다.")),
    "fcm.SENDER_ID_MISMATCH": ReasonSentence(
      Sentence("The token belongs to another Firebase project.", "다른 Firebase 프로젝트의 토큰입니다."),
      do: Sentence(
        "Use the service account of the app's own project.", "앱이 속한 프로젝트의 서비스 계정을 쓰세요.")),
    "fcm.QUOTA_EXCEEDED": ReasonSentence(
      Sentence("Google's quota for the project, device or topic is used up.", "프로젝트, 기기 또는 토픽의 Google 할당량을 다 썼습니다."),
      do: Sentence("Spread the messages over more time, or ask Google for more.", "더 긴 시간에 나눠 보내거나 할당량을 늘리세요.")),
    "fcm.THIRD_PARTY_AUTH_ERROR": ReasonSentence(
      Sentence(
        "Google could not sign in to Apple with the key that it was given.", "Google에 등록된 키로 Apple에 인증하지 못했습니다."),
      do: Sentence(
        "Upload the APNs key to the Firebase project again.", "Firebase 프로젝트에 APNs 키를 다시 올리세요.")),
  ]
}
