import PabalPrimitives

/// A part that is broken on purpose, to see that the story notices and says where.
public enum Sabotage: String, Sendable, CaseIterable {
  /// Apple takes the push, and the connection dies before it says so.
  case replyLost = "drop-after-taken"
  /// Apple answers 503 for ever.
  case alwaysUnavailable = "status-503"
  /// The picture is not there.
  case mediaMissing = "media-404"
  /// The app says that it has a service extension, and has none.
  case extensionAbsent = "extension-absent"
  case phoneOffline = "phone-offline"
  /// The server trusts another authority than Apple's.
  case wrongAuthority = "wrong-ca"
  /// The key that the app reports events with was revoked.
  case eventsRefused = "events-refused"

  /// The step that must say so.
  public var failingStep: StoryStep {
    switch self {
    case .replyLost, .alwaysUnavailable, .wrongAuthority: .talentRequest
    case .mediaMissing: .imagePush
    case .extensionAbsent: .receipt
    case .phoneOffline: .lockScreen
    case .eventsRefused: .openedReported
    }
  }

  /// What the stand-in is told to do to every push.
  var faults: JSONValue? {
    switch self {
    case .replyLost: ["rules": [["then": ["drop": "afterTaken"]]]]
    case .alwaysUnavailable: ["rules": [["then": ["status": 503, "reason": "ServiceUnavailable"]]]]
    case .mediaMissing, .extensionAbsent, .phoneOffline, .wrongAuthority, .eventsRefused: nil
    }
  }
}
