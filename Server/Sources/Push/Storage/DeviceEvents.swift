package import PabalModel
package import PabalPrimitives

/// What a device reports about a delivery.
package struct DeviceEvent: Sendable {
  package var appMode: AppMode
  package var delivery: DeliveryID
  package var message: MessageID
  package var kind: EventKind
  /// The device's clock; stored clamped to [accepted − 5 min, `receivedAt`].
  package var at: WallTime
  package var action: String?
  /// What the user typed; kept sealed.
  package var text: String?
  /// What the app calls it; of `converted` and `custom`.
  package var name: String?
  /// What it was worth, as the app wrote the number.
  package var value: String?
  /// Unique per delivery and kind.
  package var eventID: String
  package var receivedAt: WallTime

  package init(
    appMode: AppMode, delivery: DeliveryID, message: MessageID, kind: EventKind, at: WallTime, action: String?,
    text: String?, name: String? = nil, value: String? = nil, eventID: String, receivedAt: WallTime
  ) {
    self.appMode = appMode
    self.delivery = delivery
    self.message = message
    self.kind = kind
    self.at = at
    self.action = action
    self.text = text
    self.name = name
    self.value = value
    self.eventID = eventID
    self.receivedAt = receivedAt
  }
}

/// What became of one reported event.
package enum EventResult: Hashable, Sendable {
  case accepted
  /// Accepted, and the first that says that the user opened it.
  case opened(FirstOpening)
  case duplicate
  /// No such delivery in this app and mode, or another message's.
  case unknownDelivery
}

/// How long a user took to open a notification.
package struct FirstOpening: Hashable, Sendable {
  package var frequencyClass: String
  /// From the message's acceptance; zero when the device's clock says that it was earlier.
  package var delay: Duration

  package init(frequencyClass: String, acceptedAt: WallTime, openedAt: WallTime) {
    self.frequencyClass = frequencyClass
    delay = max(.zero, acceptedAt.duration(to: openedAt))
  }
}

/// An event of a delivery as it stands in its trace. It does not print, because a reply's text is the user's.
package struct EventRecord: Hashable, Sendable, Unprintable {
  package var kind: EventKind
  package var at: WallTime
  package var receivedAt: WallTime
  package var action: String?
  package var text: String?
  package var name: String?
  /// A JSON number.
  package var value: String?

  package init(
    kind: EventKind, at: WallTime, receivedAt: WallTime, action: String?, text: String?, name: String? = nil,
    value: String? = nil
  ) {
    self.kind = kind
    self.at = at
    self.receivedAt = receivedAt
    self.action = action
    self.text = text
    self.name = name
    self.value = value
  }
}
