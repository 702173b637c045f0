/// A certificate, the private key that belongs to it and the chain above it. Checked: they fit each other.
package struct CertificateIdentity: Sendable, CustomStringConvertible {
  package let leaf: X509Certificate
  /// From the leaf's issuer upwards, as far as it was given; certificates that do not belong to it are left out.
  package let chain: [X509Certificate]
  package let privateKey: PrivateKey

  /// Finds the certificate of `key` and orders the others above it.
  ///
  /// - Throws: `certificate_key_mismatch` when no certificate is for `key`.
  package init(certificates: [X509Certificate], privateKey: PrivateKey) throws(CryptographyError) {
    guard let leaf = certificates.first(where: { privateKey.belongs(to: $0) }) else {
      throw .identityMismatch(certificate: certificates.first?.commonName, key: privateKey.description)
    }
    self.leaf = leaf
    self.privateKey = privateKey
    chain = Self.chain(above: leaf, from: certificates)
  }

  /// As a TLS peer wants them: the leaf first.
  package var certificatesDER: [[UInt8]] { [leaf.der] + chain.map(\.der) }

  /// The leaf first, then the chain.
  package var certificatePEM: String { leaf.pem + chain.map(\.pem).joined() }

  package var description: String { "CertificateIdentity(\(leaf.commonName ?? "without a name"))" }

  private static func chain(above leaf: X509Certificate, from certificates: [X509Certificate]) -> [X509Certificate] {
    var chain: [X509Certificate] = []
    var last = leaf
    var left = certificates.filter { $0.der != leaf.der }
    while let index = left.firstIndex(where: { last.isIssued(by: $0) }) {
      last = left.remove(at: index)
      chain.append(last)
    }
    return chain
  }
}

/// A certificate and its key as PEM texts, in two files or one.
package enum PEMIdentity {
  /// - Parameters:
  ///   - certificate: one or more `CERTIFICATE` blocks in any order; may hold the key as well.
  ///   - key: `nil`: the key is in `certificate`.
  ///   - passphrase: for an encrypted key; `nil` when there is none.
  /// - Throws: `certificate_malformed`, `certificate_key_mismatch`, `key_missing`, `key_malformed`, `key_encrypted`,
  ///   `passphrase_wrong`.
  package static func read(
    certificate: [UInt8], key: [UInt8]? = nil, passphrase: String? = nil
  ) throws(CryptographyError) -> CertificateIdentity {
    let certificates = try X509Certificate.all(pem: certificate)
    return try CertificateIdentity(
      certificates: certificates, privateKey: try PEMPrivateKey.read(key ?? certificate, passphrase: passphrase))
  }
}
