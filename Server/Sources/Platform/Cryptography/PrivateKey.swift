internal import COpenSSL

/// The private key of a certificate: RSA or elliptic curve. It does not print.
package struct PrivateKey: Sendable, CustomStringConvertible {
  /// What a new key is.
  package enum Kind: Sendable {
    case p256
    /// What Apple's portal asks for in a signing request.
    case rsa2048
  }

  let object: OpenSSLObject

  init(owning object: OpenSSLObject) {
    self.object = object
  }

  init(_ key: P256SigningKey) throws(CryptographyError) {
    object = try key.withPointer { (pointer) throws(CryptographyError) in
      guard EVP_PKEY_up_ref(pointer) == 1 else { throw openSSLFailure("share a key") }
      return .key(pointer)
    }
  }

  /// A new random key.
  package static func generate(_ kind: Kind) throws(CryptographyError) -> PrivateKey {
    if kind == .p256 { return try PrivateKey(P256SigningKey.generate()) }
    let context = try check(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil), "prepare a key")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_keygen_init(context), "prepare a key")
    try check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048), "choose RSA 2048")
    var made: OpaquePointer?
    try check(EVP_PKEY_generate(context, &made), "generate a key")
    return PrivateKey(owning: .key(try check(made, "generate a key")))
  }

  /// PKCS#8 or the older form of its kind, not encrypted.
  ///
  /// - Throws: `key_malformed`.
  package init(der: [UInt8]) throws(CryptographyError) {
    let parsed = der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
    }
    guard let parsed else {
      throw .keyMalformed("There is no readable private key", cause: OpenSSLErrorStack.drained())
    }
    object = .key(parsed)
  }

  /// PKCS#8, not encrypted: hand it to a TLS context, or write it to files with mode 0600 only.
  package func pkcs8DER() throws(CryptographyError) -> [UInt8] {
    let buffer = try MemoryBIO()
    try check(
      i2d_PKCS8PrivateKey_bio(buffer.pointer, object.pointer, nil, nil, 0, nil, nil), "write a key")
    return buffer.bytes()
  }

  /// `-----BEGIN PRIVATE KEY-----` text, not encrypted: write it to files with mode 0600 only.
  package func pkcs8PEM() throws(CryptographyError) -> String {
    PEMLabel.block("PRIVATE KEY", try pkcs8DER())
  }

  /// Whether `certificate` is for this key.
  func belongs(to certificate: X509Certificate) -> Bool {
    let belongs = X509_check_private_key(certificate.object.pointer, object.pointer) == 1
    if !belongs { _ = OpenSSLErrorStack.drained() }
    return belongs
  }

  /// E.g. `RSA, 2048 bits`.
  package var description: String {
    let name = EVP_PKEY_get0_type_name(object.pointer).map { String(cString: $0) } ?? "unknown kind"
    return "\(name), \(EVP_PKEY_get_bits(object.pointer)) bits"
  }
}
