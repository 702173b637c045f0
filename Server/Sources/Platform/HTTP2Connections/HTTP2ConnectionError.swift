package import HTTP2
package import PabalPrimitives
package import TLS

/// Why a connection ended.
package struct HTTP2ConnectionError: CodedError {
  package enum Kind: Sendable, Hashable {
    /// `close` was called and everything had ended, or the peer's GOAWAY was honoured to its end.
    case drained
    /// `abort` was called.
    case aborted
    /// The dial took longer than its deadline.
    case dialTimedOut
    /// TCP failed before the connection was ready.
    case unreachable
    case tls(TLSError.Kind)
    /// OC-05: the TLS handshake ended without `h2`.
    case alpnMissing
    /// The proxy said no to CONNECT.
    case proxyRefused(status: Int)
    /// What listens at the proxy's address does not answer as an HTTP proxy.
    case proxyNotSpoken
    /// The peer's first frame was GOAWAY: it wants no connection now.
    case turnedAway
    /// The peer closed or reset TCP.
    case peerClosed
    /// One side broke HTTP/2; `code` is what was sent or received in GOAWAY.
    case protocolError(HTTP2ErrorCode)
  }

  package let kind: Kind
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  package init(_ kind: Kind, message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.message = message
    self.cause = cause
    self.place = Place(file: file, line: line)
  }

  package var code: String {
    switch kind {
    case .drained: "connection_drained"
    case .aborted: "connection_aborted"
    case .dialTimedOut: "dial_timed_out"
    case .unreachable: "unreachable"
    case .tls(let kind): kind.rawValue
    case .alpnMissing: "alpn_missing"
    case .proxyRefused(status: 407): "proxy_authentication_required"
    case .proxyRefused: "proxy_refused"
    case .proxyNotSpoken: "proxy_not_spoken"
    case .turnedAway: "turned_away"
    case .peerClosed: "connection_lost"
    case .protocolError: "http2_protocol_error"
    }
  }

  /// The connection had never become ready.
  package var isDialFailure: Bool {
    switch kind {
    case .dialTimedOut, .unreachable, .tls, .alpnMissing, .proxyRefused, .proxyNotSpoken, .turnedAway: true
    case .drained, .aborted, .peerClosed, .protocolError: false
    }
  }
}
