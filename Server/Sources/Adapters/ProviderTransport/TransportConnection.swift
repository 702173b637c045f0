internal import Delivery
internal import HTTP2Connections
internal import PabalPrimitives

/// One connection of the pool with the machines that decide about it. On the loop's thread only.
final class TransportConnection {
  let key: ConnectionKey
  /// Of the credential that it was dialled for.
  let credentialNumber: Int
  var permits: PermitMachine
  var goaway: GoawayMachine
  var liveness: LivenessMachine
  var isReady = false
  /// Bytes of the peer arrived since the last pump.
  var wasHeard = false
  /// Something but 500 was answered, and nothing but that since.
  var isProven = false
  /// Answered with 200 since the last pump.
  var accepted: [PushTag] = []
  /// Set right after `init`; the connection's events come back to its owner.
  private(set) var http: HTTP2ClientConnection?

  init(
    key: ConnectionKey, credentialNumber: Int, permits: PermitMachine, goaway: GoawayMachine,
    liveness: LivenessMachine
  ) {
    self.key = key
    self.credentialNumber = credentialNumber
    self.permits = permits
    self.goaway = goaway
    self.liveness = liveness
  }

  func attach(_ http: HTTP2ClientConnection) {
    self.http = http
  }

  /// Breaks the cycle with the event closure.
  func detach() {
    http = nil
  }

  var mayTakePushes: Bool { isReady && goaway.acceptsPushes && permits.available > 0 }
}
