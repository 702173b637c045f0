package import PabalPrimitives

/// How long what has ended is kept. What is under way is never removed, and a dedupe claim lives as long as its window.
package enum Retention {
  /// After the last outcome of a message: it, its decisions, deliveries, attempts and reports.
  package static let message = Duration.seconds(30 * 86_400)
  /// After a device became inactive: its token and install. A registration or a report in between revives it.
  package static let inactiveDevice = Duration.seconds(90 * 86_400)
}

/// How far a pass has come. Only a store reads it.
package enum PrunePlace: Hashable, Sendable {
  /// Behind the message that was accepted then and has this number.
  case messages(acceptedAt: WallTime, number: MessageNumber)
  case claims
  case devices

  package static let start = PrunePlace.messages(
    acceptedAt: WallTime(milliseconds: .min), number: MessageNumber(rawValue: .min))
}

/// What one bite removed.
package struct PruneStep: Hashable, Sendable {
  package var messages = 0
  package var claims = 0
  package var devices = 0
  /// `nil`: the pass is over.
  package var next: PrunePlace?

  package init(messages: Int = 0, claims: Int = 0, devices: Int = 0, next: PrunePlace?) {
    self.messages = messages
    self.claims = claims
    self.devices = devices
    self.next = next
  }
}
