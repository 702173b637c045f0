package import PabalModel
package import PabalPrimitives

/// One message, before it is known who gets it.
package struct DecisionRequest: Sendable {
  package let message: MessageID
  package let content: PushContent
  package let requestID: String
  /// `guide` or `api`.
  package let source: String
  package let now: WallTime

  package init(message: MessageID, content: PushContent, requestID: String, source: String, now: WallTime) {
    self.message = message
    self.content = content
    self.requestID = requestID
    self.source = source
    self.now = now
  }
}

/// What is known of one addressed user at the moment of the decision.
package struct Candidate: Sendable {
  package struct Preference: Sendable {
    package let isOn: Bool
    package let setAt: WallTime

    package init(isOn: Bool, setAt: WallTime) {
      self.isOn = isOn
      self.setAt = setAt
    }
  }

  package struct Device: Sendable {
    package let id: DeviceID
    /// The id that a delivery of this message to this device has.
    package let delivery: DeliveryID
    package let platform: Platform
    package let isActive: Bool
    package let hasToken: Bool
    package let locale: String?
    package let hasServiceExtension: Bool

    package init(
      id: DeviceID, delivery: DeliveryID, platform: Platform, isActive: Bool, hasToken: Bool, locale: String?,
      hasServiceExtension: Bool
    ) {
      self.id = id
      self.delivery = delivery
      self.platform = platform
      self.isActive = isActive
      self.hasToken = hasToken
      self.locale = locale
      self.hasServiceExtension = hasServiceExtension
    }
  }

  package let user: UserID
  /// The registry has heard of the user.
  package let isKnown: Bool
  /// By category; a missing one was never set, and its default counts.
  package let preferences: [String: Preference]
  package let devices: [Device]

  package init(user: UserID, isKnown: Bool, preferences: [String: Preference], devices: [Device]) {
    self.user = user
    self.isKnown = isKnown
    self.preferences = preferences
    self.devices = devices
  }
}
