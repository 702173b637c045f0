package import APNs
package import PabalModel

/// With whom a reason lies: who can do something about it.
package enum ReasonOwner: String, Sendable, CaseIterable {
  case nobody, user, app, sender
  /// Keys, teams, certificates, clocks and settings.
  case administrator
  case provider, network, server

  package var sentence: Sentence {
    switch self {
    case .nobody: Sentence("Nobody's fault: it happens.", "누구의 잘못도 아닙니다.")
    case .user: Sentence("The user's own choice.", "사용자의 선택입니다.")
    case .app: Sentence("The app on the phone.", "기기에 있는 앱입니다.")
    case .sender: Sentence("Whoever asked for the push: request or payload.", "푸시를 요청한 쪽의 요청이나 페이로드입니다.")
    case .administrator:
      Sentence("Whoever keeps keys, certificates and settings.", "키, 인증서, 설정을 관리하는 쪽입니다.")
    case .provider: Sentence("Apple or Google.", "Apple이나 Google입니다.")
    case .network: Sentence("The network in between.", "중간의 네트워크입니다.")
    case .server: Sentence("This server.", "이 서버입니다.")
    }
  }

  package static func of(_ reason: ReasonCode) -> ReasonOwner {
    if let known = exceptions[reason.rawValue] { return known }
    guard let word = reason.apnsReason else {
      return owners.first { $0.codes.contains(reason.rawValue) }?.owner ?? .server
    }
    return of(APNsReason.table.first { $0.reason.rawValue == word }?.verdict ?? .unknown)
  }

  package static func of(_ verdict: APNsVerdict) -> ReasonOwner {
    switch verdict {
    case .accepted, .tokenDead, .retryOnNewConnection: .nobody
    case .tokenSuspect, .messageInvalid: .sender
    case .configuration, .reauthenticate: .administrator
    case .retryLater, .unknown: .provider
    }
  }

  /// Where the verdict, which is about the next attempt, does not tell who is at fault.
  private static let exceptions: [String: ReasonOwner] = [
    "apns.TooManyRequests": .sender, "apns.TooManyProviderTokenUpdates": .administrator, "apns.BadPath": .network,
    "apns.MethodNotAllowed": .network, "apns.DuplicateHeaders": .network, "apns.MissingProviderToken": .network,
    "apns.MissingDeviceToken": .server,
  ]

  private static let owners: [(owner: ReasonOwner, codes: Set<String>)] = [
    (
      .nobody, ["excluded", "holdout", "device_unregistered", "device_reassigned", "not_confirmed", "fcm.UNREGISTERED"]
    ),
    (
      .user,
      [
        "preference_off", "topic_unsubscribed", "consent_missing", "night_consent_missing", "os_permission_denied",
        "quiet_hours",
      ]
    ),
    (.app, ["no_devices", "device_inactive", "app_version_excluded", "device_token_invalid"]),
    (
      .sender,
      [
        "user_unknown", "not_in_audience", "platform_excluded", "duplicate", "superseded", "message_paused",
        "message_canceled", "ttl_elapsed", "variable_missing", "locale_missing", "payload_too_large",
        "payload_invalid", "frequency_capped", "interrupted", "environment_mismatch",
      ]
    ),
    (
      .administrator,
      [
        "credential_missing", "clock_skew_suspected", "rate_paced", "canary_halted", "fcm.SENDER_ID_MISMATCH",
        "fcm.THIRD_PARTY_AUTH_ERROR",
      ]
    ),
    (.provider, ["retries_exhausted", "breaker_open", "fcm.QUOTA_EXCEEDED"]),
    (.network, ["reply_lost", "provider_unreachable"]),
    (.server, ["process_stopped", "provider_unsupported"]),
  ]
}
