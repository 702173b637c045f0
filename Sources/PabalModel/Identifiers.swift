/// A caller's own name for a person: any UTF-8, at most 255 bytes, no NUL.
///
/// Two ids are one only if their bytes are the same. `String` would call a composed and a decomposed `é` equal, a
/// database would not, and one of two people would get the other's push.
public struct UserID: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Takes the value as it is; use `init(checking:)` at the edge.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `nil` for an empty id, one over 255 bytes, or one with a NUL.
  public init?(checking text: String) {
    guard !text.isEmpty, text.utf8.count <= 255, !text.utf8.contains(0) else { return nil }
    rawValue = text
  }

  public static func == (left: UserID, right: UserID) -> Bool {
    left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
  }

  // `RawRepresentable` brings a `!=` that compares the texts.
  public static func != (left: UserID, right: UserID) -> Bool {
    !(left == right)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in rawValue.utf8 { hasher.combine(byte) }
    hasher.combine(0xFF as UInt8)
  }
}

/// One install's place in the registry, `dev_…`.
public struct DeviceID: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// One intention to notify an audience, `msg_…`.
public struct MessageID: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// One message on its way to one device, `dlv_…`; opaque and computed from both.
public struct DeliveryID: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// The app's own name for one install of itself; survives updates and token changes.
public struct InstallID: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `nil` unless 1 to 64 letters, digits, `-` or `_`.
  public init?(checking text: String) {
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard (1...64).contains(text.utf8.count), allowed else { return nil }
    rawValue = text
  }
}

/// What APNs calls the topic: a bundle id, with a suffix for some push types.
public struct Topic: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
