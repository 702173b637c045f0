package import PabalPrimitives

/// Why a context could not be made or a session failed; the message says what to do.
package typealias TLSError = KindError<TLSErrorKind>

/// The closed list of `TLSError`.
package enum TLSErrorKind: String, Sendable {
  /// A PEM file is not what it should be.
  case badCertificate = "tls_certificate_unreadable"
  case badKey = "tls_key_unreadable"
  case keyMismatch = "tls_key_mismatch"
  /// The peer's certificate is signed by nobody that we trust.
  case unknownAuthority = "tls_unknown_authority"
  /// The peer's certificate is for another name.
  case wrongHost = "tls_wrong_host"
  /// Expired, not valid yet, revoked, or unfit.
  case certificateRefused = "tls_certificate_refused"
  /// The server does not take our certificate, or a client showed none where one is demanded.
  case clientCertificateRefused = "tls_client_certificate_refused"
  /// The peer did not agree on a protocol that we offered.
  case alpnMismatch = "alpn_missing"
  /// The peer sent an alert.
  case alert = "tls_alert"
  /// The bytes are not TLS.
  case notTLS = "tls_not_spoken"
  /// TCP ended without close_notify.
  case truncated = "tls_truncated"
  case other = "tls_failed"
}
