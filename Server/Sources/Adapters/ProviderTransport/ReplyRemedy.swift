internal import APNs
internal import Delivery
internal import HTTP2
internal import PabalModel

/// What helps against one of APNs' refusals: its verdict in the words of the ledger.
enum ReplyRemedy {
  /// Reasons that no push with this credential can avoid.
  private static let credentialReasons: Set<String> = [
    "InvalidProviderToken", "MissingProviderToken", "BadCertificate", "BadCertificateEnvironment",
    "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
  ]

  /// The response headers that the transport reads.
  static let headers = ["apns-unique-id", "retry-after"]

  static func refusal(for reply: APNsReply, headers: HTTP2HeaderBlock) -> DeliveryRefusal {
    let remedy: DeliveryRefusal.Remedy
    switch reply.verdict {
    case .accepted, .tokenDead, .tokenSuspect, .messageInvalid, .configuration, .unknown: remedy = .none
    case .reauthenticate: remedy = .freshCredential
    case .retryLater, .retryOnNewConnection: remedy = .later(retryAfter: retryAfter(headers))
    }
    return DeliveryRefusal(reason: reply.reasonCode ?? .apns(String(reply.status)), remedy: remedy)
  }

  static func isAboutCredential(_ reply: APNsReply) -> Bool {
    reply.verdict == .configuration && reply.reason.map(credentialReasons.contains) == true
  }

  /// RFC 9110 section 10.2.3, the form in seconds; a date is not understood and counts as absent.
  private static func retryAfter(_ headers: HTTP2HeaderBlock) -> Duration? {
    guard let value = headers.string("retry-after"), let seconds = UInt32(value) else { return nil }
    return .seconds(Int64(seconds))
  }
}
