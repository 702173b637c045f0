/// Apple's word in an error reply (Apple, "Handling notification responses from APNs"). Open: new words survive.
package struct APNsReason: RawRepresentable, Hashable, Sendable {
  package let rawValue: String

  package init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// What a reply asks of the sender.
package enum APNsVerdict: String, Sendable, Hashable, CaseIterable {
  /// 200: APNs took the push. Says nothing about the phone.
  case accepted
  /// The token is gone for this topic; the only verdict that may change a registry.
  case tokenDead
  /// The token does not fit environment or topic: it may be ours that is wrong, so nothing is deleted on it.
  case tokenSuspect
  /// This request can never succeed; do not repeat it.
  case messageInvalid
  /// The operator must change key, topic or certificate; repeating helps nobody, tokens are fine.
  case configuration
  /// The same request, later.
  case retryLater
  /// The same request, on a new connection.
  case retryOnNewConnection
  /// The same request once, with a new provider token.
  case reauthenticate
  /// A status or reason that is not in the table: not repeated, nothing deleted, the raw words kept.
  case unknown
}

extension APNsReason {
  /// One row for each reason that Apple documents, and the wire's own spelling of one of them.
  package struct Row: Sendable {
    package let reason: APNsReason
    package let status: Int
    package let verdict: APNsVerdict
  }

  package static let table: [Row] = [
    row("BadCollapseId", 400, .messageInvalid),
    row("BadDeviceToken", 400, .tokenSuspect),
    row("BadExpirationDate", 400, .messageInvalid),
    row("BadMessageId", 400, .messageInvalid),
    row("BadPriority", 400, .messageInvalid),
    row("BadTopic", 400, .configuration),
    row("DeviceTokenNotForTopic", 400, .tokenSuspect),
    row("DuplicateHeaders", 400, .messageInvalid),
    row("IdleTimeout", 400, .retryOnNewConnection),
    row("InvalidPushType", 400, .messageInvalid),
    row("MissingDeviceToken", 400, .messageInvalid),
    row("MissingTopic", 400, .configuration),
    row("PayloadEmpty", 400, .messageInvalid),
    row("TopicDisallowed", 400, .configuration),
    row("BadCertificate", 403, .configuration),
    row("BadCertificateEnvironment", 403, .configuration),
    row("ExpiredProviderToken", 403, .reauthenticate),
    row("Forbidden", 403, .configuration),
    row("InvalidProviderToken", 403, .configuration),
    row("MissingProviderToken", 403, .configuration),
    row("UnrelatedKeyIdInToken", 403, .retryOnNewConnection),
    row("BadEnvironmentKeyIdInToken", 403, .configuration),
    // Apple documents the line above and sends this one.
    row("BadEnvironmentKeyInToken", 403, .configuration),
    row("BadPath", 404, .messageInvalid),
    row("MethodNotAllowed", 405, .messageInvalid),
    row("ExpiredToken", 410, .tokenDead),
    row("Unregistered", 410, .tokenDead),
    row("PayloadTooLarge", 413, .messageInvalid),
    row("TooManyProviderTokenUpdates", 429, .retryLater),
    row("TooManyRequests", 429, .retryLater),
    row("InternalServerError", 500, .retryLater),
    row("ServiceUnavailable", 503, .retryLater),
    row("Shutdown", 503, .retryOnNewConnection),
  ]

  static let verdicts: [APNsReason: APNsVerdict] = Dictionary(
    uniqueKeysWithValues: table.map { ($0.reason, $0.verdict) })

  private static func row(_ reason: String, _ status: Int, _ verdict: APNsVerdict) -> Row {
    Row(reason: APNsReason(rawValue: reason), status: status, verdict: verdict)
  }
}
