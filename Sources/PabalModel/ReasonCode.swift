/// Why something ended as it did: a closed list of our own words, and the provider's words under its name.
///
/// A provider's reason that we do not know keeps its spelling.
public struct ReasonCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static func apns(_ reason: String) -> ReasonCode {
    ReasonCode(rawValue: "apns." + reason)
  }

  /// The provider's own word, if this is one.
  public var apnsReason: String? {
    rawValue.hasPrefix("apns.") ? String(rawValue.dropFirst(5)) : nil
  }
}

extension ReasonCode {
  // audience
  public static let userUnknown = ReasonCode(rawValue: "user_unknown")
  public static let excluded = ReasonCode(rawValue: "excluded")
  // resolve
  public static let noDevices = ReasonCode(rawValue: "no_devices")
  public static let deviceInactive = ReasonCode(rawValue: "device_inactive")
  public static let deviceUnregistered = ReasonCode(rawValue: "device_unregistered")
  public static let deviceReassigned = ReasonCode(rawValue: "device_reassigned")
  public static let environmentMismatch = ReasonCode(rawValue: "environment_mismatch")
  public static let providerUnsupported = ReasonCode(rawValue: "provider_unsupported")
  // consent
  public static let preferenceOff = ReasonCode(rawValue: "preference_off")
  // policy
  public static let duplicate = ReasonCode(rawValue: "duplicate")
  public static let timeToLiveElapsed = ReasonCode(rawValue: "ttl_elapsed")
  // render
  public static let variableMissing = ReasonCode(rawValue: "variable_missing")
  public static let payloadTooLarge = ReasonCode(rawValue: "payload_too_large")
  public static let payloadInvalid = ReasonCode(rawValue: "payload_invalid")
  public static let deviceTokenInvalid = ReasonCode(rawValue: "device_token_invalid")
  public static let lineInvalid = ReasonCode(rawValue: "line_invalid")
  // provider
  public static let replyLost = ReasonCode(rawValue: "reply_lost")
  public static let processStopped = ReasonCode(rawValue: "process_stopped")
  public static let retriesExhausted = ReasonCode(rawValue: "retries_exhausted")
  public static let credentialMissing = ReasonCode(rawValue: "credential_missing")
  public static let clockSkewSuspected = ReasonCode(rawValue: "clock_skew_suspected")
  public static let providerUnreachable = ReasonCode(rawValue: "provider_unreachable")
  public static let interrupted = ReasonCode(rawValue: "interrupted")
  // device
  public static let notConfirmed = ReasonCode(rawValue: "not_confirmed")
}
