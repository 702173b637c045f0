import APNs
package import PabalModel

extension ReasonSentence {
  /// Why such a thing happens: what codes of one family have in common.
  package static func why(_ reason: ReasonCode) -> Sentence {
    if let word = reason.apnsReason {
      return why(APNsReply.classify(status: 0, body: Array("{\"reason\":\"\(word)\"}".utf8)).verdict)
    }
    return ours[reason] ?? Sentence("Decided by the server.", "서버에서 정해졌습니다.")
  }

  private static func why(_ verdict: APNsVerdict) -> Sentence {
    switch verdict {
    case .accepted, .unknown:
      Sentence("Apple answered with a word that is not in its table.", "Apple의 표에 없는 응답입니다.")
    case .tokenDead:
      Sentence("The token is gone for this app; Apple says since when.", "이 앱에서 토큰이 더는 유효하지 않으며, Apple이 그 시각을 알려 줍니다.")
    case .tokenSuspect:
      Sentence(
        "Token, environment and topic of the request do not fit together; one of them is wrong.",
        "토큰과 환경, 토픽이 서로 맞지 않습니다. 셋 중 하나가 틀렸습니다.")
    case .messageInvalid:
      Sentence(
        "The request breaks one of Apple's rules, so repeating it would be refused as well.",
        "요청이 Apple의 규칙에 어긋나므로 다시 보내도 거부됩니다.")
    case .configuration:
      Sentence(
        "Key, team, topic or certificate are not what Apple has on file; the device is not at fault.",
        "키, 팀, 토픽, 인증서가 Apple에 등록된 것과 다릅니다. 기기 탓이 아닙니다.")
    case .retryLater:
      Sentence(
        "Apple would not take it at that moment; the same request may succeed later.",
        "그 순간에는 Apple이 받지 않았습니다. 같은 요청이 나중에는 성공할 수 있습니다.")
    case .retryOnNewConnection:
      Sentence("The connection had come to its end, not the push.", "푸시가 아니라 연결이 끝났습니다.")
    case .reauthenticate:
      Sentence(
        "Apple takes provider tokens for an hour, by its own clock.", "Apple은 자기 시계로 한 시간 안의 프로바이더 토큰만 받습니다.")
    }
  }

  private static let ours: [ReasonCode: Sentence] = {
    var sentences: [ReasonCode: Sentence] = [:]
    for (codes, sentence) in furtherFamilies {
      for code in codes { sentences[ReasonCode(rawValue: code)] = sentence }
    }
    for (codes, sentence) in families {
      for code in codes { sentences[code] = sentence }
    }
    return sentences
  }()

  private static let families: [([ReasonCode], Sentence)] = [
    (
      [.userUnknown, .excluded],
      Sentence("Decided when the audience was found.", "받을 사람을 찾을 때 정해졌습니다.")
    ),
    (
      [
        .noDevices, .deviceInactive, .deviceUnregistered, .deviceReassigned, .environmentMismatch, .providerUnsupported,
      ],
      Sentence("Decided from the devices as they were registered.", "등록된 기기의 상태에 따라 정해졌습니다.")
    ),
    ([.preferenceOff], Sentence("Decided from the user's own settings.", "사용자의 설정에 따라 정해졌습니다.")),
    (
      [.duplicate, .timeToLiveElapsed],
      Sentence("Decided from the message's own terms.", "메시지의 조건에 따라 정해졌습니다.")
    ),
    (
      [.variableMissing, .payloadTooLarge, .payloadInvalid, .deviceTokenInvalid, .lineInvalid],
      Sentence("Found before anything was sent.", "보내기 전에 발견되었습니다.")
    ),
    (
      [
        .replyLost, .processStopped, .retriesExhausted, .credentialMissing, .clockSkewSuspected, .providerUnreachable,
        .interrupted,
      ],
      Sentence("It happened on the way to Apple.", "Apple로 가는 길에 일어난 일입니다.")
    ),
    ([.notConfirmed], Sentence("Only the app itself can tell what its phone showed.", "기기에 무엇이 보였는지는 앱만 알려 줄 수 있습니다.")),
  ]

  /// Codes that have no constant: those of policies, audiences and other providers.
  private static let furtherFamilies: [([String], Sentence)] = [
    (
      ["not_in_audience", "holdout"],
      Sentence("Decided when the audience was frozen.", "대상이 정해질 때 결정되었습니다.")
    ),
    (
      ["platform_excluded", "app_version_excluded", "os_permission_denied"],
      Sentence("Decided from what the device told of itself.", "기기가 알려 준 상태에 따라 정해졌습니다.")
    ),
    (
      ["topic_unsubscribed", "consent_missing", "night_consent_missing"],
      Sentence("Decided from what the user agreed to.", "사용자의 동의와 구독에 따라 정해졌습니다.")
    ),
    (
      ["quiet_hours", "frequency_capped", "rate_paced", "superseded", "message_paused", "message_canceled"],
      Sentence("Decided by the rules for this class of messages.", "이 등급의 메시지 규칙에 따라 정해졌습니다.")
    ),
    (
      ["canary_halted", "breaker_open"],
      Sentence("Decided from how other pushes fared.", "다른 푸시의 결과를 보고 정해졌습니다.")
    ),
    (["locale_missing"], Sentence("Found while the text was made.", "문구를 만들 때 발견되었습니다.")),
    (
      ["fcm.UNREGISTERED", "fcm.SENDER_ID_MISMATCH", "fcm.QUOTA_EXCEEDED", "fcm.THIRD_PARTY_AUTH_ERROR"],
      Sentence("Google's word for it (FCM HTTP v1).", "Google FCM의 응답입니다.")
    ),
  ]
}
