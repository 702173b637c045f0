/// The values of `apns-push-type`, with the topic suffix and the payload limit of each.
///
/// Source: Apple, "Sending notification requests to APNs". The page prints the complication suffix as `h.complication`;
/// clients in the field send `.complication`, which is what this stand-in wants.
package enum StandInPushType: String, Sendable, CaseIterable {
  case alert
  case background
  case voip
  case complication
  case fileprovider
  case mdm
  case location
  case liveactivity
  case pushtotalk
  case widgets
  case controls

  /// What follows the bundle id in `apns-topic`.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// Refused on a connection with a client certificate, whatever the certificate lists.
  package var wantsToken: Bool { self == .location || self == .fileprovider }

  /// Largest body in bytes.
  package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

  /// An MDM push goes to the topic of the management certificate, not to an app.
  package static let mdmTopicPrefix = "com.apple.mgmt.External."

  /// The type that a topic's suffix speaks of; `nil` for a topic without a known suffix.
  package static func implied(byTopic topic: String) -> StandInPushType? {
    allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
  }

  /// The bundle id inside `topic` if the topic fits this type; `nil` if it does not.
  package func bundle(inTopic topic: String) -> String? {
    switch self {
    case .mdm: return topic.hasPrefix(Self.mdmTopicPrefix) ? topic : nil
    case .alert, .background: return topic
    default:
      guard topic.hasSuffix(topicSuffix) else { return nil }
      return String(topic.dropLast(topicSuffix.count))
    }
  }
}
