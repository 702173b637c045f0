internal import COpenSSL
internal import PabalPrimitives

/// A certificate chain and its private key, checked: what a side shows to prove who it is.
package struct TLSIdentity: Sendable, Unprintable {
  let certificates: [[UInt8]]
  let privateKey: [UInt8]

  /// - Parameters:
  ///   - certificates: DER, the leaf first, then its chain upwards.
  ///   - privateKey: PKCS#8 in DER, not encrypted.
  /// - Throws: `tls_certificate_unreadable`, `tls_key_unreadable`, `tls_key_mismatch`.
  package init(certificates: [[UInt8]], privateKey: [UInt8]) throws(TLSError) {
    self.certificates = certificates
    self.privateKey = privateKey
    // A context of the same kind says now what it would say at the first dial.
    try TLSContextHandle(method: TLS_client_method()).use(self)
  }
}

extension TLSContextHandle {
  func use(_ identity: TLSIdentity) throws(TLSError) {
    guard let leaf = identity.certificates.first,
      SSL_CTX_use_certificate_ASN1(pointer, Int32(clamping: leaf.count), leaf) == 1
    else { throw TLSError(.badCertificate, "The certificate was refused. \(drainedErrors())") }
    for der in identity.certificates.dropFirst() {
      let certificate = der.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return d2i_X509(nil, &cursor, buffer.count)
      }
      guard let certificate else {
        throw TLSError(.badCertificate, "A certificate of the chain cannot be read. \(drainedErrors())")
      }
      pabal_ssl_ctx_add_chain_certificate(pointer, certificate)
      X509_free(certificate)
    }
    let key = identity.privateKey.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
    }
    guard let key else {
      throw TLSError(.badKey, "The private key cannot be read. \(drainedErrors())")
    }
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
      throw TLSError(
        .keyMismatch,
        "The private key is not the certificate's; give the pair that was issued together. \(drainedErrors())")
    }
  }
}

/// Whether a server asks its clients for certificates.
package enum TLSClientAuthentication: Sendable {
  case none
  /// A client may show one; it must be good and signed by one of these authorities (PEM).
  case optional(authorities: [UInt8])
  /// A client without a good one is refused.
  case required(authorities: [UInt8])
}

extension TLSContextHandle {
  func demand(_ authentication: TLSClientAuthentication) throws(TLSError) {
    let (mode, authorities): (Int32, [UInt8])
    switch authentication {
    case .none: return
    case .optional(let pem): (mode, authorities) = (SSL_VERIFY_PEER, pem)
    case .required(let pem): (mode, authorities) = (SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, pem)
    }
    try trust(authorities)
    let certificates = try readCertificates(authorities)
    defer { certificates.forEach { X509_free($0) } }
    for certificate in certificates {
      // Clients choose by the names of the authorities (RFC 8446 section 4.2.4).
      guard SSL_CTX_add_client_CA(pointer, certificate) == 1 else {
        throw TLSError(.badCertificate, "An authority's name was refused. \(drainedErrors())")
      }
    }
    SSL_CTX_set_verify(pointer, mode, nil)
    // Without one, OpenSSL fails the resumption of a session whose client was verified.
    let name = Array("pabal".utf8)
    guard SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count)) == 1 else {
      throw TLSError(.other, "The TLS context could not be set up. \(drainedErrors())")
    }
  }
}

extension TLSSession {
  /// What the peer showed, verified, in DER; `nil` when it showed none.
  package var peerCertificate: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    let count = i2d_X509(certificate, nil)
    guard count > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return i2d_X509(certificate, &cursor)
    }
    return written == count ? bytes : nil
  }
}
