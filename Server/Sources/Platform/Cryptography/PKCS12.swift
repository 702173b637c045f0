internal import COpenSSL
import PabalPrimitives

/// Files with a certificate and its key inside (.p12 or .pfx, RFC 7292).
package enum PKCS12 {
  /// The algorithms of a new file.
  package enum Algorithms: Sendable {
    /// AES-256 with PBES2, as OpenSSL 3 and macOS 15 write.
    case modern
    /// RC2-40 and triple DES, as older Keychain Access and OpenSSL 1 write.
    case legacy
  }

  /// Reads a file with one private key, whatever its age.
  ///
  /// Old files need OpenSSL's legacy provider (RC2); it is loaded for this call alone and serves nothing else.
  ///
  /// - Parameters:
  ///   - passphrase: `nil` and empty are the same: both ways in which tools write "none" are tried.
  ///   - providerFolder: where OpenSSL's providers lie; `nil`: where it was built to look.
  /// - Throws: `p12_malformed`, `passphrase_missing`, `passphrase_wrong`, `p12_passphrase_unneeded`,
  ///   `p12_legacy_unsupported`, `p12_without_key`, `p12_without_certificate`, `p12_several_keys`,
  ///   `certificate_key_mismatch`.
  package static func read(
    _ bytes: [UInt8], passphrase: String? = nil, providerFolder: String? = nil
  ) throws(CryptographyError) -> CertificateIdentity {
    let modern = try PKCS12File(bytes, library: nil)
    try modern.checkPassphrase(passphrase)
    let bags: PKCS12Bags
    if let found = modern.bags(passphrase: passphrase) {
      bags = found
    } else {
      let reason = OpenSSLErrorStack.drained()
      bags = try withLegacyLibrary(providerFolder, cause: reason) { (library) throws(CryptographyError) in
        let legacy = try PKCS12File(bytes, library: library)
        guard let found = legacy.bags(passphrase: passphrase) else {
          throw .p12(
            "p12_malformed", "The .p12 opens, but what is inside cannot be read. Export it again.",
            cause: OpenSSLErrorStack.drained())
        }
        return found
      }
    }
    guard bags.keys.count <= 1 else {
      throw .p12(
        "p12_several_keys",
        "The .p12 holds \(bags.keys.count) private keys, and which one is meant cannot be known. Export one identity.")
    }
    guard let key = bags.keys.first else {
      throw .p12(
        "p12_without_key",
        "The .p12 holds no private key. In Keychain Access open the triangle beside the certificate, select "
          + "certificate and key, and export both.")
    }
    guard !bags.certificates.isEmpty else {
      throw .p12(
        "p12_without_certificate", "The .p12 holds a key and no certificate. Export the certificate with its key.")
    }
    return try CertificateIdentity(
      certificates: try bags.certificates.map { (der) throws(CryptographyError) in try X509Certificate(der: der) },
      privateKey: try PrivateKey(der: key))
  }

  /// Writes a new file.
  ///
  /// - Parameter passphrase: empty for none.
  package static func write(
    _ identity: CertificateIdentity, passphrase: String, friendlyName: String, algorithms: Algorithms = .modern,
    providerFolder: String? = nil
  ) throws(CryptographyError) -> [UInt8] {
    guard algorithms == .legacy else {
      return try encode(
        identity, passphrase, friendlyName, (NID_aes_256_cbc, NID_aes_256_cbc), PKCS12File.iterations, library: nil)
    }
    return try withLegacyLibrary(providerFolder, cause: nil) { (library) throws(CryptographyError) in
      try encode(
        identity, passphrase, friendlyName,
        (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC), 1, library: library)
    }
  }

  private static func encode(
    _ identity: CertificateIdentity, _ passphrase: String, _ name: String, _ algorithms: (key: CInt, certificate: CInt),
    _ macIterations: CInt, library: OpaquePointer?
  ) throws(CryptographyError) -> [UInt8] {
    let chain = try check(OPENSSL_sk_new_null(), "collect certificates")
    defer { OPENSSL_sk_free(chain) }
    for certificate in identity.chain {
      OPENSSL_sk_push(chain, UnsafeRawPointer(certificate.object.pointer))
    }
    let made = PKCS12_create_ex(
      passphrase, name, identity.privateKey.object.pointer, identity.leaf.object.pointer, chain, algorithms.key,
      algorithms.certificate, PKCS12File.iterations, macIterations, 0, library, nil)
    let file = try check(made, "make a .p12")
    defer { PKCS12_free(file) }
    let buffer = try MemoryBIO()
    try check(i2d_PKCS12_bio(buffer.pointer, file), "write a .p12")
    return buffer.bytes()
  }
}

/// Lends a library context of its own with the default and the legacy provider, so that the rest of the process keeps
/// to what is safe.
private func withLegacyLibrary<Result>(
  _ providerFolder: String?, cause: (any Error)?, _ body: (OpaquePointer) throws(CryptographyError) -> Result
) throws(CryptographyError) -> Result {
  let library = try check(OSSL_LIB_CTX_new(), "make a library context")
  defer { OSSL_LIB_CTX_free(library) }
  if let providerFolder { OSSL_PROVIDER_set_default_search_path(library, providerFolder) }
  var loaded: [OpaquePointer] = []
  defer { loaded.forEach { OSSL_PROVIDER_unload($0) } }
  for name in ["default", "legacy"] {
    guard let provider = OSSL_PROVIDER_load(library, name) else {
      throw .p12(
        "p12_legacy_unsupported",
        "The .p12 is encrypted with RC2 or another old algorithm that OpenSSL 3 keeps in its legacy provider, which "
          + "is not installed. Install it (Debian and Ubuntu: openssl-provider-legacy), or export the certificate "
          + "again with a current system.",
        cause: cause ?? OpenSSLErrorStack.drained())
    }
    loaded.append(provider)
  }
  return try body(library)
}
