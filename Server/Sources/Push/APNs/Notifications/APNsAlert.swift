package import PabalPrimitives

/// A visible push.
package struct APNsAlert: APNsNotification {
  package static let pushType = APNsPushType.alert

  package var content: APNsContent
  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package var collapseID: String?

  package init(
    _ content: APNsContent, priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil,
    collapseID: String? = nil
  ) {
    self.content = content
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
  }

  package func payload() throws(APNsRequestError) -> APNsPayload { try content.payload() }
}

/// A push that wakes the app and shows nothing. Its priority is 5 and cannot be another.
package struct APNsBackground: APNsNotification {
  package static let pushType = APNsPushType.background

  package let priority = APNsPriority.conserving
  package var data: [JSONMember]
  package var expiration: APNsExpiration?
  package var collapseID: String?

  package init(_ data: [JSONMember] = [], expiration: APNsExpiration? = nil, collapseID: String? = nil) {
    self.data = data
    self.expiration = expiration
    self.collapseID = collapseID
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: ["content-available": 1], custom: data, for: Self.pushType)
  }
}

/// The answer to a location query; runs the app's Location Push Service Extension. Needs a signing key, not a
/// certificate.
package struct APNsLocationQuery: APNsNotification {
  package static let pushType = APNsPushType.location

  package var data: [JSONMember]
  /// 10 when the answer is needed now.
  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(
    _ data: [JSONMember] = [], priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil
  ) {
    self.data = data
    self.priority = priority
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: .object([]), custom: data, for: Self.pushType)
  }
}
