import PabalPrimitives
import TestSupport

/// What the network itself does to a connection.
enum NetworkFault: String, CaseIterable, Sendable {
  case dialRefused = "dial refused"
  case dialSwallowed = "dial swallowed"
  case resetOnTheWayThere = "reset on the way there"
  case resetOnTheWayBack = "reset on the way back"
  case silenceOnTheWayThere = "nothing gets there"
  case silenceOnTheWayBack = "nothing comes back"
  case kernelTakesNoMore = "kernel takes no more"

  func apply(to connection: ScriptedConnection, _ chance: inout SeededGenerator) {
    let bytes = UInt64.random(in: 100...20_000, using: &chance)
    switch self {
    case .dialRefused: connection.dial = .refused
    case .dialSwallowed: connection.dial = .swallowed
    case .resetOnTheWayThere: connection.resetAfter = (.toServer, bytes)
    case .resetOnTheWayBack: connection.resetAfter = (.toClient, bytes / 8)
    case .silenceOnTheWayThere: connection.stallAfter = (.toServer, bytes)
    case .silenceOnTheWayBack: connection.stallAfter = (.toClient, bytes / 8)
    case .kernelTakesNoMore: connection.takeAtMost = bytes
    }
  }
}

final class NetworkFaultCounter {
  private(set) var counts: [String: Int] = [:]

  func count(_ fault: NetworkFault) {
    counts[fault.rawValue, default: 0] += 1
  }
}
