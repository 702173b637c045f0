internal import COpenSSL
import PabalPrimitives

/// What OpenSSL left on this thread's error queue: the first reason's number, and all reasons in its own words.
struct OpenSSLReasons {
  var first: Int32 = 0
  /// A protocol that we had not offered: OpenSSL gives that no reason of its own, only a place.
  private(set) var concernsALPN = false
  private var sentences: [String] = []

  /// Empties the queue.
  init() {
    var function: UnsafePointer<CChar>?
    while case let code = ERR_get_error_all(nil, nil, &function, nil, nil), code != 0 {
      if let function, String(cString: function).hasSuffix("_alpn") { concernsALPN = true }
      if first == 0 { first = ERR_GET_REASON(code) }
      if let reason = ERR_reason_error_string(code) { sentences.append(String(cString: reason)) }
    }
  }

  var text: String {
    sentences.isEmpty ? "OpenSSL gave no reason." : "OpenSSL says: \(sentences.joined(separator: "; "))."
  }
}

func drainedErrors() -> String { OpenSSLReasons().text }

/// The one function that turns a failed session call into our error.
///
/// - Parameter isClient: whose certificate was judged here: the server's, or the client's if it was asked for one.
func sessionError(
  _ ssl: OpaquePointer, isClient: Bool, peer: String, file: String = #fileID, line: Int = #line
) -> TLSError {
  let reasons = OpenSSLReasons()
  if case let verdict = Int32(truncatingIfNeeded: SSL_get_verify_result(ssl)), verdict != X509_V_OK {
    return certificateError(verdict, peer: peer, file: file, line: line)
  }
  if reasons.concernsALPN { return alpnError(isClient: isClient, peer: peer, file: file, line: line) }
  switch reasons.first {
  case SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    return alpnError(isClient: isClient, peer: peer, file: file, line: line)
  case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG,
    SSL_R_BAD_PACKET_LENGTH, SSL_R_UNEXPECTED_MESSAGE:
    return TLSError(
      .notTLS, "\(peer) does not speak TLS on this port; check the port and the scheme. \(reasons.text)",
      file: file, line: line)
  case _ where isClient && clientCertificateAlerts.contains(reasons.first - SSL_AD_REASON_OFFSET):
    return TLSError(
      .clientCertificateRefused,
      "\(peer) refused our certificate, or demands one and got none. Check that it is not expired or revoked "
        + "and that it is for this service. \(reasons.text)", file: file, line: line)
  case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    return TLSError(
      .clientCertificateRefused,
      "The client \(peer) showed no certificate, which this server demands. \(reasons.text)", file: file,
      line: line)
  case SSL_AD_REASON_OFFSET...(SSL_AD_REASON_OFFSET + 255):
    return TLSError(
      .alert, "\(peer) refused the TLS session; its log says more. \(reasons.text)", file: file, line: line)
  default:
    return TLSError(.other, "TLS with \(peer) failed. \(reasons.text)", file: file, line: line)
  }
}

/// Alerts about a certificate (RFC 8446 section 6.2): bad, unsupported, revoked, expired, unknown, unknown authority,
/// access denied, certificate required.
private let clientCertificateAlerts: Set<Int32> = [42, 43, 44, 45, 46, 48, 49, 116]

func alpnError(
  isClient: Bool, peer: String, file: String = #fileID, line: Int = #line
) -> TLSError {
  TLSError(
    .alpnMismatch,
    isClient
      ? "The peer \(peer) did not negotiate h2 (ALPN); it must speak HTTP/2 over TLS. Check the host, the port, "
        + "and any proxy or load balancer in between."
      : "The client \(peer) did not offer h2 (ALPN), which HTTP/2 over TLS demands (RFC 9113 §3.2).", file: file,
    line: line)
}

private func certificateError(_ verdict: Int32, peer: String, file: String, line: Int) -> TLSError {
  let reason = X509_verify_cert_error_string(Int(verdict)).map { String(cString: $0) } ?? "error \(verdict)"
  switch verdict {
  case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
    return TLSError(
      .wrongHost,
      "The certificate of \(peer) is for another name; correct the host or the certificate (\(reason)).",
      file: file, line: line)
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
    X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
    X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return TLSError(
      .unknownAuthority,
      "The certificate of \(peer) is signed by an authority that is not trusted; give its CA (\(reason)).",
      file: file, line: line)
  default:
    return TLSError(
      .certificateRefused, "The certificate of \(peer) was refused: \(reason). Renew or replace it.",
      file: file, line: line)
  }
}
