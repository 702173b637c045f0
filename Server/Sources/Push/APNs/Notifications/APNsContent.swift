package import PabalPrimitives

/// What a visible push shows, and what travels with it; becomes the body of an `alert` push.
package struct APNsContent: Sendable, Equatable {
  package var title: APNsText?
  package var subtitle: APNsText?
  package var body: APNsText?
  /// File or storyboard that the app shows when it starts from the notification.
  package var launchImage: String?
  package var badge: APNsBadge?
  package var sound: APNsSound?
  package var threadID: String?
  package var category: String?
  /// Runs the app's notification service extension.
  package var isMutable: Bool
  /// Also wakes the app.
  package var wakesApp: Bool
  /// The window that comes forward.
  package var targetContentID: String?
  package var interruptionLevel: APNsInterruptionLevel?
  /// 0…1 for notifications.
  package var relevanceScore: Double?
  /// What the Focus filters of the app go by.
  package var filterCriteria: String?
  /// The app's own members, beside `aps`, in this order.
  package var custom: [JSONMember]

  package init(
    title: APNsText? = nil, subtitle: APNsText? = nil, body: APNsText? = nil, launchImage: String? = nil,
    badge: APNsBadge? = nil, sound: APNsSound? = nil, threadID: String? = nil, category: String? = nil,
    isMutable: Bool = false, wakesApp: Bool = false, targetContentID: String? = nil,
    interruptionLevel: APNsInterruptionLevel? = nil, relevanceScore: Double? = nil, filterCriteria: String? = nil,
    custom: [JSONMember] = []
  ) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.launchImage = launchImage
    self.badge = badge
    self.sound = sound
    self.threadID = threadID
    self.category = category
    self.isMutable = isMutable
    self.wakesApp = wakesApp
    self.targetContentID = targetContentID
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.filterCriteria = filterCriteria
    self.custom = custom
  }

  /// The body of an `alert` push: `aps` first, members always in the same order, absent ones left out.
  ///
  /// - Throws: `payload_invalid` when nothing would be visible or a custom member has a reserved or repeated name;
  ///   `payload_too_large`.
  package func payload() throws(APNsRequestError) -> APNsPayload {
    try APNsPayload(checking: encoded(), for: .alert)
  }

  /// As `payload`, with a body that is too long cut to what fits.
  package func fittingPayload() throws(APNsRequestError) -> (payload: APNsPayload, truncation: APNsTruncation?) {
    try APNsPayload.fitting(encoded(), for: .alert)
  }

  private func encoded() throws(APNsRequestError) -> [UInt8] {
    let texts =
      (title?.members("title") ?? []) + (subtitle?.members("subtitle") ?? []) + (body?.members("body") ?? [])
    guard !texts.isEmpty || badge != nil || sound != nil else {
      throw .payload("An alert push needs a title, a body, a badge or a sound.")
    }
    if let relevanceScore, !(0...1).contains(relevanceScore) {
      throw .payload("The relevance score must be from 0 to 1.")
    }
    let alert = texts + (launchImage.map { [JSONMember("launch-image", .string($0))] } ?? [])
    let aps = JSONValue.compact([
      "alert": texts.isEmpty ? .null : .object(alert),
      "badge": JSONValue(badge?.number),
      "sound": sound?.json ?? .null,
      "thread-id": JSONValue(threadID),
      "category": JSONValue(category),
      "content-available": wakesApp ? 1 : .null,
      "mutable-content": isMutable ? 1 : .null,
      "target-content-id": JSONValue(targetContentID),
      "interruption-level": JSONValue(interruptionLevel?.rawValue),
      "relevance-score": relevanceScore.map(JSONValue.double) ?? .null,
      "filter-criteria": JSONValue(filterCriteria),
    ])
    return try APNsPayload.root(aps: aps, custom: custom).encoded
  }
}

/// Value of `aps.interruption-level`.
package enum APNsInterruptionLevel: String, Sendable, Hashable, CaseIterable {
  case passive, active
  case timeSensitive = "time-sensitive"
  case critical
}

extension APNsPayload {
  static func joining(
    aps: JSONValue?, custom: [JSONMember], for pushType: APNsPushType
  ) throws(APNsRequestError) -> APNsPayload {
    try APNsPayload(checking: root(aps: aps, custom: custom).encoded, for: pushType)
  }

  static func root(aps: JSONValue?, custom: [JSONMember]) throws(APNsRequestError) -> JSONValue {
    var names: Set<String> = ["aps"]
    for member in custom where !names.insert(member.name).inserted {
      throw .payload(
        member.name == "aps"
          ? "The name aps is Apple's. Give title, body, badge and sound by their own options."
          : "Two custom members have the same name. Give each once.")
    }
    return .object((aps.map { [JSONMember("aps", $0)] } ?? []) + custom)
  }
}
