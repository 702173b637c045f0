package import PabalModel

/// Value of `apns-push-type` (Apple, "Sending notification requests to APNs").
///
/// Open: a type that Apple adds later keeps its name and is sent with the plain topic and the common limit.
package struct APNsPushType: RawRepresentable, Hashable, Sendable {
  package let rawValue: String

  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  package static let alert = APNsPushType(rawValue: "alert")
  package static let background = APNsPushType(rawValue: "background")
  package static let voip = APNsPushType(rawValue: "voip")
  package static let complication = APNsPushType(rawValue: "complication")
  package static let fileprovider = APNsPushType(rawValue: "fileprovider")
  package static let mdm = APNsPushType(rawValue: "mdm")
  package static let location = APNsPushType(rawValue: "location")
  package static let liveactivity = APNsPushType(rawValue: "liveactivity")
  package static let pushtotalk = APNsPushType(rawValue: "pushtotalk")
  package static let widgets = APNsPushType(rawValue: "widgets")
  package static let controls = APNsPushType(rawValue: "controls")

  package static let known: [APNsPushType] = [
    .alert, .background, .voip, .complication, .fileprovider, .mdm, .location, .liveactivity, .pushtotalk, .widgets,
    .controls,
  ]

  /// What is added to the bundle id to make the topic; empty for `alert`, `background`, `mdm` and unknown types.
  ///
  /// For `complication` Apple's page prints `h.complication`; `.complication` is what works.
  package var topicSuffix: String {
    switch self {
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    default: ""
    }
  }

  /// The topic for `bundle`; a topic that has this type's suffix already stays as it is.
  package func topic(for bundle: Topic) -> Topic {
    guard !topicSuffix.isEmpty, !bundle.rawValue.hasSuffix(topicSuffix) else { return bundle }
    return Topic(rawValue: bundle.rawValue + topicSuffix)
  }

  /// 5120 bytes for `voip`, 4096 for everything else.
  package var maximumPayloadBytes: Int {
    self == .voip ? APNsLimits.voipPayloadBytes : APNsLimits.payloadBytes
  }

  /// Sent with a provider token only, whatever a certificate lists.
  package var needsSigningKey: Bool { self == .location || self == .fileprovider }

  /// 5 for `background`, where 10 is an error; else 10.
  package var defaultPriority: APNsPriority {
    self == .background ? .conserving : .immediate
  }
}

/// Value of `apns-priority`.
package struct APNsPriority: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  package static let immediate = APNsPriority(rawValue: 10)
  /// Delivered with regard to the device's power.
  package static let conserving = APNsPriority(rawValue: 5)
  /// Power comes first; never wakes the device.
  package static let lowest = APNsPriority(rawValue: 1)

  package static let known: [APNsPriority] = [.immediate, .conserving, .lowest]
}
