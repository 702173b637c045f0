package import HTTP2Connections
package import PabalModel

/// What a transport has done so far.
package struct TransportStatistics: Sendable {
  package var connectionsDialed = 0
  package var connectionsReady = 0
  /// Requests of which the kernel took a byte.
  package var requestsWritten = 0
  /// GOAWAY frames received.
  package var goaways = 0
  /// Connections replaced because their stream ids were used up.
  package var connectionsReplacedForIDs = 0
  /// What the last GOAWAY gave for a reason, in Apple's words.
  package var lastGoawayReason: String?
  /// Why nothing is sent with this credential, until it is replaced.
  package var credentialRefusal: ReasonCode?
  /// Why the last connection or dial ended.
  package var lastConnectionError: HTTP2ConnectionError?

  package init() {}
}
