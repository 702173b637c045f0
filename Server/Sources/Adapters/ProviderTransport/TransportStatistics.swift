package import HTTP2Connections

/// What a transport has done so far.
package struct TransportStatistics: Sendable {
  package var connectionsDialed = 0
  package var connectionsReady = 0
  /// Requests of which the kernel took a byte.
  package var requestsWritten = 0
  /// GOAWAY frames received.
  package var goaways = 0
  /// Why the last connection or dial ended.
  package var lastConnectionError: HTTP2ConnectionError?

  package init() {}
}
