package import PabalModel
package import PabalPrimitives

/// Something to report about one delivery. A reply's text is not part of it: it is the app's, not ours.
package struct ClientEvent: Sendable, Hashable {
  package let id: String
  package let kind: EventKind
  package let identity: PushIdentity
  package let at: WallTime
  package let action: String?

  package init(id: String, kind: EventKind, identity: PushIdentity, at: WallTime, action: String? = nil) {
    self.id = id
    self.kind = kind
    self.identity = identity
    self.at = at
    self.action = action
  }

  package static func received(_ identity: PushIdentity, at time: WallTime) -> ClientEvent {
    ClientEvent(
      id: EventID.make(delivery: identity.delivery.rawValue, presentedAt: nil, action: "received"), kind: .received,
      identity: identity, at: time)
  }

  /// `nil` for a notification that is not ours.
  package static func presented(_ notification: PabalNotification, at time: WallTime) -> ClientEvent? {
    guard let identity = notification.identity else { return nil }
    return ClientEvent(
      id: EventID.make(
        delivery: identity.delivery.rawValue, presentedAt: notification.date, action: "presented"),
      kind: .presented, identity: identity, at: time)
  }

  /// `nil` for a notification that is not ours.
  package static func of(_ interaction: PabalInteraction, at time: WallTime) -> ClientEvent? {
    guard let identity = interaction.notification.identity else { return nil }
    let kind: EventKind =
      switch interaction.kind {
      case .open: .opened
      case .dismiss: .dismissed
      case .action, .reply: .action
      }
    return ClientEvent(id: interaction.id, kind: kind, identity: identity, at: time, action: interaction.actionName)
  }

  /// One element of the body of `POST /v1/events`.
  package var json: JSONValue {
    .compact([
      "kind": .string(kind.rawValue), "deliveryId": .string(identity.delivery.rawValue),
      "messageId": .string(identity.message.rawValue), "at": .string(at.rfc3339), "action": JSONValue(action),
      "eventId": .string(id),
    ])
  }
}
