package import PabalPrimitives

/// An incoming call, for PushKit; up to 5120 bytes. The app must report the call to CallKit at once.
package struct APNsVoIP: APNsNotification {
  package static let pushType = APNsPushType.voip

  package let priority = APNsPriority.immediate
  package var data: [JSONMember]
  /// A call that nobody can take any more need not ring: one attempt, unless told otherwise.
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(_ data: [JSONMember], expiration: APNsExpiration? = .attemptOnce) {
    self.data = data
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: nil, custom: data, for: Self.pushType)
  }
}

/// New data for a watch complication, for PushKit.
package struct APNsComplication: APNsNotification {
  package static let pushType = APNsPushType.complication

  package var data: [JSONMember]
  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(_ data: [JSONMember], priority: APNsPriority = .immediate, expiration: APNsExpiration? = nil) {
    self.data = data
    self.priority = priority
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: nil, custom: data, for: Self.pushType)
  }
}

/// A change in a File Provider's container. Needs a signing key, not a certificate.
package struct APNsFileProviderChange: APNsNotification {
  package static let pushType = APNsPushType.fileprovider

  package var containerIdentifier: String
  /// Only where the extension has domains.
  package var domain: String?
  package var priority: APNsPriority
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(
    containerIdentifier: String, domain: String? = nil, priority: APNsPriority = .immediate,
    expiration: APNsExpiration? = nil
  ) {
    self.containerIdentifier = containerIdentifier
    self.domain = domain
    self.priority = priority
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    var members = [JSONMember("container-identifier", .string(containerIdentifier))]
    if let domain { members.append(JSONMember("domain", .string(domain))) }
    return try .joining(aps: nil, custom: members, for: Self.pushType)
  }
}

/// Push to Talk: what a participant does, or a request to fetch the service's state.
package struct APNsPushToTalk: APNsNotification {
  package enum Body: Sendable, Equatable {
    case data([JSONMember])
    /// The system wakes the app to bring its channel up to date.
    case serviceUpdate
  }

  package static let pushType = APNsPushType.pushtotalk

  package let priority = APNsPriority.immediate
  package var body: Body
  /// Speech that comes late is of no use: one attempt, unless told otherwise.
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(_ body: Body, expiration: APNsExpiration? = .attemptOnce) {
    self.body = body
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    switch body {
    case .data(let data): try .joining(aps: nil, custom: data, for: Self.pushType)
    case .serviceUpdate: try .joining(aps: ["ptt-push-type": "service-update"], custom: [], for: Self.pushType)
    }
  }
}

/// Tells a managed device to contact its server. The topic is that of the MDM certificate, not a bundle id.
package struct APNsDeviceManagement: APNsNotification, Unprintable {
  package static let pushType = APNsPushType.mdm

  package let priority = APNsPriority.immediate
  /// The `PushMagic` that the device gave when it enrolled.
  package var pushMagic: String
  package var expiration: APNsExpiration?
  package let collapseID: String? = nil

  package init(pushMagic: String, expiration: APNsExpiration? = nil) {
    self.pushMagic = pushMagic
    self.expiration = expiration
  }

  package func payload() throws(APNsRequestError) -> APNsPayload {
    try .joining(aps: nil, custom: [JSONMember("mdm", .string(pushMagic))], for: Self.pushType)
  }
}
