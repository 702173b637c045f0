/// A user's dense number, given at first sight and never used again for another user.
package struct UserNumber: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Owns the devices where nobody is signed in.
  package static let nobody = UserNumber(rawValue: 0)

  package static func < (left: UserNumber, right: UserNumber) -> Bool { left.rawValue < right.rawValue }
}

/// A device's dense number. It stays when the token rotates and when the device changes hands, so that sealed values
/// and delivery ids may be bound to it.
package struct DeviceNumber: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static func < (left: DeviceNumber, right: DeviceNumber) -> Bool { left.rawValue < right.rawValue }
}

/// A message's dense number, in the order of reservation.
package struct MessageNumber: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static func < (left: MessageNumber, right: MessageNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The position of a registry or preference change. A decision remembers the newest one it saw; ``PushStorage/accept``
/// compares.
package struct ChangeSequence: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static func < (left: ChangeSequence, right: ChangeSequence) -> Bool { left.rawValue < right.rawValue }
}

/// One message to one device, as numbers: what a queue carries and what a ``DeliveryID`` hides.
package struct DeliveryKey: Hashable, Sendable {
  package let message: MessageNumber
  package let device: DeviceNumber

  package init(message: MessageNumber, device: DeviceNumber) {
    self.message = message
    self.device = device
  }
}
