package import EventLoop
import PabalPrimitives

/// Where bytes go.
package enum ScriptedDirection: Sendable {
  case toServer, toClient
}

/// One connection of the scripted network, with its faults.
package final class ScriptedConnection {
  package enum Dial: Sendable {
    case accepted
    case refused
    /// The SYN is lost: nothing ever comes back.
    case swallowed
  }

  /// Counts up from 0.
  package let number: Int
  package let endpoint: Endpoint

  /// What becomes of the dial. Set in `onConnect`.
  package var dial = Dial.accepted

  /// Both sides see a reset once so many bytes have arrived in a direction; what is under way is lost.
  package var resetAfter: (direction: ScriptedDirection, bytes: UInt64)?

  /// Nothing more arrives in a direction after so many bytes, without a word: the sender's kernel still takes what it
  /// can hold.
  package var stallAfter: (direction: ScriptedDirection, bytes: UInt64)?

  /// The dialler's kernel takes no more than so many bytes, ever.
  package var takeAtMost: UInt64 = .max

  /// Sees what arrives, as it arrives.
  package var onArrival: ((ScriptedDirection, ArraySlice<UInt8>) -> Void)?

  private unowned let core: ScriptedCore
  private(set) var client: ScriptedChannel
  private(set) var server: ScriptedChannel
  private(set) package var isUp = false

  init(core: ScriptedCore, number: Int, endpoint: Endpoint, dialler: any ByteChannelHandler) {
    self.core = core
    self.number = number
    self.endpoint = endpoint
    client = ScriptedChannel(core: core, sends: .toServer, handler: dialler)
    server = ScriptedChannel(core: core, sends: .toClient, handler: nil)
    client.connection = self
    server.connection = self
  }

  /// Bytes that the receiver of a direction has seen.
  package func arrived(_ direction: ScriptedDirection) -> UInt64 { channel(sending: direction).totalArrived }

  /// Both sides see a reset now; what is under way is lost.
  package func reset() {
    let error = ChannelError(.reset, "The connection was reset by the script.")
    for channel in [client, server] { channel.fail(error) }
  }

  /// From now on nothing arrives in either direction, without a word.
  package func blackHole() {
    client.isStalled = true
    server.isStalled = true
  }

  /// The loop ends.
  func end() {
    client.end()
    server.end()
  }

  func channel(sending direction: ScriptedDirection) -> ScriptedChannel {
    direction == .toServer ? client : server
  }

  func synArrives(at listener: ScriptedListener?) {
    guard client.isAlive else { return }
    switch dial {
    case .swallowed: break
    case .accepted:
      guard let listener else { return refuse() }
      guard let handler = listener.accept(server) else { return refuse() }
      server.handler = handler
      let synAck = core.now.advanced(by: core.latency())
      server.open(noArrivalBefore: synAck)
      core.travel(at: synAck) { [self] in clientConnects() }
    case .refused: refuse()
    }
  }

  private func clientConnects() {
    guard client.isAlive else { return }
    isUp = true
    client.open(noArrivalBefore: core.now)
    client.handler?.channelDidConnect()
    client.flushWaiting()
  }

  private func refuse() {
    server.fail(nil)
    client.fail(ChannelError(.refused, "Nothing listens on \(endpoint)."))
  }

  /// After each arrival.
  func applyFaults(_ direction: ScriptedDirection) {
    let arrived = arrived(direction)
    if let resetAfter, resetAfter.direction == direction, arrived >= resetAfter.bytes {
      self.resetAfter = nil
      reset()
    }
  }

  /// How many more bytes may arrive in a direction.
  func allowance(_ direction: ScriptedDirection) -> UInt64 {
    guard let stallAfter, stallAfter.direction == direction else { return .max }
    let arrived = arrived(direction)
    return stallAfter.bytes > arrived ? stallAfter.bytes - arrived : 0
  }
}
