import PabalPrimitives

/// A push that APNs took for a device.
package struct StandInPush: Sendable, Unprintable {
  package enum State: String, Sendable {
    /// Handed to the device. What the phone showed is the phone's record.
    case displayed
    /// Waiting for an offline device.
    case stored
    /// Gave way to a newer one before it was delivered.
    case replaced
    /// Ran out before it could be delivered.
    case expired
  }

  /// Counts pushes over all devices, from 1; orders the ids of a device link.
  package let sequence: Int
  package let apnsID: String
  package let uniqueID: String?
  /// `apns-topic` as sent, suffix included.
  package let topic: String
  package let pushType: String?
  package let priority: Int
  /// Seconds since 1970; `nil` without the header.
  package let expiration: Int64?
  package let collapseID: String?
  /// Milliseconds since 1970.
  package let receivedAt: Int64
  package let payload: [UInt8]
  package internal(set) var state: State
  /// Written to a device link, hence part of a replay.
  var wasLinked = false

  /// The id of the inbox item, and of its event on a device link.
  package var id: String { "in_\(sequence)" }

  var size: Int { payload.count + 256 }

  /// The sequence inside an inbox id.
  static func sequence(ofID id: some StringProtocol) -> Int? {
    guard id.hasPrefix("in_"), let number = Int(id.dropFirst(3)), number > 0 else { return nil }
    return number
  }

  /// Whether a stored push may no longer be delivered at `now` (milliseconds).
  func isOver(at now: Int64) -> Bool {
    if now >= receivedAt + StandInLimits.storageDays * 86_400_000 { return true }
    guard let expiration else { return false }
    return expiration <= now / 1000
  }
}
