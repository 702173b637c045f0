/// A virtual device: one installation of one app.
package struct StandInDevice: Sendable {
  package enum State: Sendable, Hashable {
    case registered
    /// The app was removed; the token was found dead at that time (milliseconds).
    case unregistered(at: Int64)
    /// The token ran out at that time (milliseconds).
    case expired(at: Int64)

    package var word: String {
      switch self {
      case .registered: "registered"
      case .unregistered: "unregistered"
      case .expired: "expired"
      }
    }

    package var endedAt: Int64? {
      switch self {
      case .registered: nil
      case .unregistered(let at), .expired(let at): at
      }
    }
  }

  /// Who decides whether the device is online.
  enum Presence: Sendable {
    /// No phone ever linked: the device plays itself, as told.
    case selfPlaying(online: Bool)
    /// A phone has linked once; online is what is linked.
    case followsLink(StandInLink?)
  }

  package let id: String
  package let token: [UInt8]
  package let environment: StandInEnvironment
  package let topic: String
  package internal(set) var state = State.registered
  var presence: Presence
  /// The newest pushes, oldest first.
  var inbox: [StandInPush] = []

  package var isOnline: Bool {
    switch presence {
    case .selfPlaying(let online): online
    case .followsLink(let link): link != nil
    }
  }

  /// The pushes kept, oldest first, at most `StandInLimits.inboxPerDevice`.
  package var pushes: [StandInPush] { inbox }
}

package struct StandInLinkID: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// The open stream of a phone.
struct StandInLink: Sendable {
  let id: StandInLinkID
  var saidReady = false
  /// Sequence numbers of pushes to be written, in order.
  var queue: [Int] = []
}

/// What a device link says next.
package enum StandInLinkEvent: Sendable {
  case ready(StandInDevice)
  case push(StandInPush)
  /// A newer stream took over; nothing follows.
  case replaced
  /// The device left or was removed; nothing follows.
  case ended
}
