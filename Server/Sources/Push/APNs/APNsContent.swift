package import PabalPrimitives

/// What a visible push shows, and what travels with it; becomes the body of an `alert` push.
package struct APNsContent: Sendable, Equatable {
  package var title: String?
  package var subtitle: String?
  package var body: String?
  package var badge: APNsBadge?
  package var sound: APNsSound?
  package var threadID: String?
  package var category: String?
  /// Runs the app's notification service extension.
  package var isMutable: Bool
  /// Also wakes the app.
  package var wakesApp: Bool
  package var interruptionLevel: APNsInterruptionLevel?
  /// 0…1 for notifications.
  package var relevanceScore: Double?
  /// The app's own members, beside `aps`, in this order.
  package var custom: [JSONMember]

  package init(
    title: String? = nil, subtitle: String? = nil, body: String? = nil, badge: APNsBadge? = nil,
    sound: APNsSound? = nil, threadID: String? = nil, category: String? = nil, isMutable: Bool = false,
    wakesApp: Bool = false, interruptionLevel: APNsInterruptionLevel? = nil, relevanceScore: Double? = nil,
    custom: [JSONMember] = []
  ) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.badge = badge
    self.sound = sound
    self.threadID = threadID
    self.category = category
    self.isMutable = isMutable
    self.wakesApp = wakesApp
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.custom = custom
  }

  /// The body of an `alert` push: `aps` first, members always in the same order, absent ones left out.
  ///
  /// - Throws: `payload_invalid` when nothing would be visible or a custom member has a reserved or repeated name;
  ///   `payload_too_large`.
  package func payload() throws(APNsRequestError) -> APNsPayload {
    let alert = JSONValue.compact([
      "title": JSONValue(title), "subtitle": JSONValue(subtitle), "body": JSONValue(body),
    ])
    let hasAlert = alert != .object([])
    guard hasAlert || badge != nil || sound != nil else {
      throw .payload("An alert push needs a title, a body, a badge or a sound.")
    }
    if let relevanceScore, !(0...1).contains(relevanceScore) {
      throw .payload("The relevance score must be from 0 to 1.")
    }
    let aps = JSONValue.compact([
      "alert": hasAlert ? alert : .null,
      "badge": JSONValue(badge?.number),
      "sound": sound?.json ?? .null,
      "thread-id": JSONValue(threadID),
      "category": JSONValue(category),
      "content-available": wakesApp ? 1 : .null,
      "mutable-content": isMutable ? 1 : .null,
      "interruption-level": JSONValue(interruptionLevel?.rawValue),
      "relevance-score": relevanceScore.map(JSONValue.double) ?? .null,
    ])
    return try APNsPayload.joining(aps: aps, custom: custom, for: .alert)
  }
}

/// Value of `aps.interruption-level`.
package enum APNsInterruptionLevel: String, Sendable, Hashable, CaseIterable {
  case passive, active
  case timeSensitive = "time-sensitive"
  case critical
}

extension APNsPayload {
  /// The body of a push that shows nothing by itself: `background`, `voip`, `complication`, `fileprovider`,
  /// `location`, `pushtotalk`, `widgets` or `controls`, each with the `aps` that its type asks for, or none.
  ///
  /// - Throws: `payload_invalid` for a type with rules of its own (`alert`, `liveactivity`, `mdm`, unknown ones) and
  ///   for reserved or repeated names; `payload_too_large`.
  package static func data(
    _ custom: [JSONMember], for pushType: APNsPushType
  ) throws(APNsRequestError) -> APNsPayload {
    switch pushType {
    case .background: try joining(aps: ["content-available": 1], custom: custom, for: pushType)
    case .widgets, .controls: try joining(aps: ["content-changed": true], custom: custom, for: pushType)
    case .location: try joining(aps: .object([]), custom: custom, for: pushType)
    case .voip, .complication, .fileprovider, .pushtotalk: try joining(aps: nil, custom: custom, for: pushType)
    default:
      throw .payload("A push of type \(pushType.rawValue) cannot be made of data alone. Give its whole payload.")
    }
  }

  static func joining(
    aps: JSONValue?, custom: [JSONMember], for pushType: APNsPushType
  ) throws(APNsRequestError) -> APNsPayload {
    var names: Set<String> = ["aps"]
    for member in custom where !names.insert(member.name).inserted {
      throw .payload(
        member.name == "aps"
          ? "The name aps is Apple's. Give title, body, badge and sound by their own options."
          : "Two custom members have the same name. Give each once.")
    }
    let root = JSONValue.object((aps.map { [JSONMember("aps", $0)] } ?? []) + custom)
    return try APNsPayload(checking: root.encoded, for: pushType)
  }
}
