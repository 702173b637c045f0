internal import COpenSSL
import PabalPrimitives

/// Whom a client believes.
package enum TLSTrust: Sendable {
  /// The certificates that the operating system trusts.
  case system
  /// These and no others: one or more certificates in PEM.
  case authorities(pem: [UInt8])
}

/// What all client sessions of one kind share. TLS 1.2 or later; the peer's certificate is always verified.
package struct TLSClientContext: Sendable {
  let handle: TLSContextHandle
  let alpn: [String]

  /// - Parameters:
  ///   - alpn: protocols offered, the preferred one first. A session fails unless the peer picks one of them.
  ///   - identity: shown to servers that ask for a certificate; `nil`: none.
  package init(
    trust: TLSTrust = .system, alpn: [String] = ["h2"], identity: TLSIdentity? = nil
  ) throws(TLSError) {
    let handle = try TLSContextHandle(method: TLS_client_method())
    switch trust {
    case .system:
      guard SSL_CTX_set_default_verify_paths(handle.pointer) == 1 else {
        throw TLSError(.other, "The system's trusted certificates could not be found. \(drainedErrors())")
      }
    case .authorities(let pem):
      try handle.trust(pem)
    }
    SSL_CTX_set_verify(handle.pointer, SSL_VERIFY_PEER, nil)
    if let identity { try handle.use(identity) }
    let offer = wireFormat(alpn)
    // The one OpenSSL function that returns 0 for success.
    guard SSL_CTX_set_alpn_protos(handle.pointer, offer, UInt32(offer.count)) == 0 else {
      throw TLSError(.other, "The ALPN list \(alpn) is not valid.")
    }
    self.handle = handle
    self.alpn = alpn
  }
}

/// What all server sessions of one certificate share.
package struct TLSServerContext: Sendable {
  /// What to do when a client offers none of our protocols, or no ALPN at all.
  package enum WithoutAgreement: Sendable {
    /// Alert `no_application_protocol` (RFC 7301 §3.2).
    case refuse
    /// Go on with our first protocol, as servers for HTTP/1.1 do. For tests of what a client makes of it.
    case answerAnyway
  }

  let handle: TLSContextHandle
  let withoutAgreement: WithoutAgreement

  /// - Parameters:
  ///   - certificatePEM: the server's certificate, then its chain.
  ///   - alpn: protocols accepted, the preferred one first.
  ///   - keyLog: told the secrets of every session; `nil`: nobody is.
  package init(
    certificatePEM: [UInt8], keyPEM: [UInt8], alpn: [String] = ["h2"],
    withoutAgreement: WithoutAgreement = .refuse, clientAuthentication: TLSClientAuthentication = .none,
    keyLog: TLSKeyLog? = nil
  ) throws(TLSError) {
    let handle = try TLSContextHandle(method: TLS_server_method())
    try handle.use(certificatePEM: certificatePEM, keyPEM: keyPEM)
    try handle.demand(clientAuthentication)
    if let keyLog { handle.tellKeys(to: keyLog) }
    // Push clients keep a connection for hours: session tickets would be sent and never used.
    SSL_CTX_set_num_tickets(handle.pointer, 0)
    handle.select(alpn: alpn, answerAnyway: withoutAgreement == .answerAnyway)
    self.handle = handle
    self.withoutAgreement = withoutAgreement
  }
}

/// Owns one `SSL_CTX`.
///
/// Proof of `@unchecked Sendable`: the context is changed only before `init` of the structs above returns; after that
/// OpenSSL only reads it and counts references atomically (its threading guarantee for `SSL_CTX`).
final class TLSContextHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  private var alpn: [UInt8] = []
  private var answerAnyway = false
  var keyLog: TLSKeyLog?

  init(method: OpaquePointer?) throws(TLSError) {
    guard let method, let pointer = SSL_CTX_new(method) else {
      throw TLSError(.other, "OpenSSL could not make a TLS context. \(drainedErrors())")
    }
    self.pointer = pointer
    guard pabal_ssl_ctx_set_min_tls12(pointer) == 1 else {
      throw TLSError(.other, "This OpenSSL does not know TLS 1.2. \(drainedErrors())")
    }
    pabal_ssl_ctx_harden(pointer)
  }

  deinit {
    SSL_CTX_free(pointer)
  }

  func trust(_ pem: [UInt8]) throws(TLSError) {
    let certificates = try readCertificates(pem)
    defer { certificates.forEach { X509_free($0) } }
    let store = SSL_CTX_get_cert_store(pointer)
    for certificate in certificates {
      guard X509_STORE_add_cert(store, certificate) == 1 else {
        throw TLSError(.badCertificate, "An authority's certificate was refused. \(drainedErrors())")
      }
    }
  }

  func use(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
    let certificates = try readCertificates(certificatePEM)
    defer { certificates.forEach { X509_free($0) } }
    guard let leaf = certificates.first, SSL_CTX_use_certificate(pointer, leaf) == 1 else {
      throw TLSError(.badCertificate, "The server's certificate was refused. \(drainedErrors())")
    }
    for certificate in certificates.dropFirst() {
      pabal_ssl_ctx_add_chain_certificate(pointer, certificate)
    }
    let key = withReadBIO(keyPEM) { PEM_read_bio_PrivateKey($0, nil, nil, $1) }
    guard let key else {
      throw TLSError(
        .badKey, "The server's private key cannot be read; give an unencrypted PEM key. \(drainedErrors())")
    }
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
      throw TLSError(
        .keyMismatch, "The private key is not the certificate's; give the pair that was issued together.")
    }
  }

  func select(alpn: [String], answerAnyway: Bool) {
    self.alpn = wireFormat(alpn)
    self.answerAnyway = answerAnyway
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, out, outLength, offered, offeredLength, context in
        guard let context, let out, let outLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let handle = Unmanaged<TLSContextHandle>.fromOpaque(context).takeUnretainedValue()
        return handle.choose(out, outLength, offered, offeredLength)
      },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Points `out` into our own list or into the client's, both of which outlive the call.
  private func choose(
    _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ outLength: UnsafeMutablePointer<UInt8>,
    _ offered: UnsafePointer<UInt8>, _ offeredLength: UInt32
  ) -> Int32 {
    alpn.withUnsafeBufferPointer { ours in
      var chosen: UnsafeMutablePointer<UInt8>?
      let verdict = SSL_select_next_proto(
        &chosen, outLength, ours.baseAddress, UInt32(ours.count), offered, offeredLength)
      // Without agreement the function points at the first of the client's list, which must not be answered.
      guard verdict != OPENSSL_NPN_NEGOTIATED else {
        out.pointee = UnsafePointer(chosen)
        return SSL_TLSEXT_ERR_OK
      }
      guard answerAnyway, let first = ours.first, let base = ours.baseAddress else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      out.pointee = base + 1
      outLength.pointee = first
      return SSL_TLSEXT_ERR_OK
    }
  }
}

/// RFC 7301 §3.1: each name after its length.
private func wireFormat(_ names: [String]) -> [UInt8] {
  names.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8.prefix(255)) }
}

/// Lends a readable BIO, and an empty passphrase for the last argument of the PEM readers: with neither it nor a
/// call-back OpenSSL asks at the terminal, and the process stands still.
private func withReadBIO<Result>(
  _ bytes: [UInt8], _ body: (OpaquePointer, UnsafeMutableRawPointer) -> Result?
) -> Result? {
  var passphrase: CChar = 0
  return bytes.withUnsafeBytes { buffer in
    guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
    defer { BIO_free(bio) }
    return withUnsafeMutablePointer(to: &passphrase) { body(bio, UnsafeMutableRawPointer($0)) }
  }
}

/// The caller frees them.
func readCertificates(_ pem: [UInt8]) throws(TLSError) -> [OpaquePointer] {
  let certificates =
    withReadBIO(pem) { (bio, passphrase) -> [OpaquePointer]? in
      var certificates: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(bio, nil, nil, passphrase) { certificates.append(certificate) }
      return certificates
    } ?? []
  // The end of the file is an error to OpenSSL. Any other one would cut a list short without a word.
  let isWhole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
  guard isWhole || certificates.isEmpty else {
    certificates.forEach { X509_free($0) }
    throw TLSError(
      .badCertificate,
      "Certificate \(certificates.count + 1) of the PEM text cannot be read. \(drainedErrors())")
  }
  ERR_clear_error()
  guard !certificates.isEmpty else {
    throw TLSError(
      .badCertificate, "No certificate found; give PEM text with a BEGIN CERTIFICATE block.")
  }
  return certificates
}
