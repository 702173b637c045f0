internal import COpenSSL
package import PabalPrimitives

/// A certificate and its private key, as PEM texts. It does not print.
package struct IssuedCertificate: Sendable, Unprintable {
  package let certificatePEM: String
  /// Not encrypted: write it to files with mode 0600 only.
  package let keyPEM: String
}

/// A private certificate authority for stand-ins and tests: P-256, self-signed, path length 0.
package struct CertificateAuthority: Sendable {
  private let certificate: OpenSSLObject
  private let key: P256SigningKey
  package let certificatePEM: String

  /// Makes a new authority with a new key.
  ///
  /// - Parameters:
  ///   - commonName: at most 64 bytes (RFC 5280, ub-common-name).
  ///   - now: start of validity; one hour earlier is written, so that clocks that lag a little accept it.
  package static func make(
    commonName: String, validFor validity: Duration = .seconds(10 * 365 * 86_400), now: WallTime
  ) throws(CryptographyError) -> CertificateAuthority {
    let key = try P256SigningKey.generate()
    let draft = try CertificateDraft(
      commonName: commonName, key: PrivateKey(key), notBefore: now, validity: validity)
    try draft.addExtension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: nil)
    try draft.addExtension(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: nil)
    try draft.addExtension(NID_subject_key_identifier, "hash", issuer: nil)
    let certificate = try draft.signed(by: key, issuer: nil)
    return CertificateAuthority(
      certificate: certificate, key: key, certificatePEM: try pem(of: certificate))
  }

  /// Reads an authority that `make` wrote earlier.
  package init(certificatePEM: String, keyPEM: String) throws(CryptographyError) {
    let buffer = try MemoryBIO(Array(certificatePEM.utf8))
    guard let parsed = PEM_read_bio_X509(buffer.pointer, nil, nil, nil) else {
      throw CryptographyError(
        code: "certificate_malformed",
        message: "The authority's certificate is not readable PEM. Delete both of its files to make a new one.",
        cause: OpenSSLErrorStack.drained())
    }
    let certificate = OpenSSLObject.certificate(parsed)
    let key = try P256SigningKey(pem: keyPEM)
    let belongs = try key.withPointer { (pointer) throws(CryptographyError) in
      X509_check_private_key(certificate.pointer, pointer) == 1
    }
    guard belongs else {
      throw CryptographyError(
        code: "certificate_key_mismatch",
        message: "The authority's key does not belong to its certificate. Delete both files to make a new one.",
        cause: OpenSSLErrorStack.drained())
    }
    self.init(certificate: certificate, key: key, certificatePEM: certificatePEM)
  }

  private init(certificate: OpenSSLObject, key: P256SigningKey, certificatePEM: String) {
    self.certificate = certificate
    self.key = key
    self.certificatePEM = certificatePEM
  }

  /// The authority's own key, for writing it beside the certificate (mode 0600).
  package func keyPEM() throws(CryptographyError) -> String { try key.pkcs8PEM() }

  /// A server certificate with a new key. At least one name or address is needed: clients read nothing else.
  package func issueServerCertificate(
    commonName: String, dnsNames: [String], ipAddresses: [String],
    validFor validity: Duration = .seconds(825 * 86_400), now: WallTime
  ) throws(CryptographyError) -> IssuedCertificate {
    let names = try Self.subjectAlternativeNames(dnsNames: dnsNames, ipAddresses: ipAddresses)
    let key = try P256SigningKey.generate()
    let draft = try CertificateDraft(
      commonName: commonName, key: PrivateKey(key), notBefore: now, validity: validity)
    try draft.addExtension(NID_basic_constraints, "critical,CA:FALSE", issuer: certificate)
    try draft.addExtension(NID_key_usage, "critical,digitalSignature", issuer: certificate)
    try draft.addExtension(NID_ext_key_usage, "serverAuth", issuer: certificate)
    try draft.addExtension(NID_subject_alt_name, names, issuer: certificate)
    try draft.addExtension(NID_subject_key_identifier, "hash", issuer: certificate)
    try draft.addExtension(NID_authority_key_identifier, "keyid:always", issuer: certificate)
    let signed = try draft.signed(by: self.key, issuer: certificate)
    return IssuedCertificate(certificatePEM: try Self.pem(of: signed), keyPEM: try key.pkcs8PEM())
  }

  /// A client certificate with a new key.
  ///
  /// - Parameters:
  ///   - userID: attribute `UID` of the subject.
  ///   - extensions: added as they are, beside the usual ones.
  ///   - now: start of validity, one hour earlier as in `make`; give a time long past for an expired certificate.
  package func issueClientCertificate(
    commonName: String, userID: String? = nil, organizationalUnit: String? = nil,
    extensions: [CertificateExtension] = [], key kind: PrivateKey.Kind = .p256,
    validFor validity: Duration = .seconds(395 * 86_400), now: WallTime
  ) throws(CryptographyError) -> CertificateIdentity {
    let key = try PrivateKey.generate(kind)
    let draft = try CertificateDraft(commonName: commonName, key: key, notBefore: now, validity: validity)
    if let userID { try draft.addName(NID_userId, userID) }
    if let organizationalUnit { try draft.addName(NID_organizationalUnitName, organizationalUnit) }
    try draft.addExtension(NID_basic_constraints, "critical,CA:FALSE", issuer: certificate)
    try draft.addExtension(NID_key_usage, "critical,digitalSignature", issuer: certificate)
    try draft.addExtension(NID_ext_key_usage, "clientAuth", issuer: certificate)
    try draft.addExtension(NID_subject_key_identifier, "hash", issuer: certificate)
    try draft.addExtension(NID_authority_key_identifier, "keyid:always", issuer: certificate)
    for extra in extensions { try draft.addExtension(extra) }
    let signed = try draft.signed(by: self.key, issuer: certificate)
    let authority = try X509Certificate.all(pem: Array(certificatePEM.utf8))
    return try CertificateIdentity(certificates: [try X509Certificate(sharing: signed)] + authority, privateKey: key)
  }

  private static func subjectAlternativeNames(
    dnsNames: [String], ipAddresses: [String]
  ) throws(CryptographyError) -> String {
    // The text goes through OpenSSL's extension parser, where a comma would start another name.
    let isPlain = { (text: String) in
      !text.isEmpty
        && text.utf8.allSatisfy { UInt8(ascii: "!") <= $0 && $0 <= UInt8(ascii: "~") && $0 != UInt8(ascii: ",") }
    }
    let names = dnsNames.map { "DNS:" + $0 } + ipAddresses.map { "IP:" + $0 }
    guard !names.isEmpty, (dnsNames + ipAddresses).allSatisfy(isPlain) else {
      throw CryptographyError(
        code: "certificate_name_invalid",
        message: "A server certificate needs at least one host name or IP address without blanks and commas.")
    }
    return names.joined(separator: ",")
  }

  private static func pem(of certificate: OpenSSLObject) throws(CryptographyError) -> String {
    let buffer = try MemoryBIO()
    try check(PEM_write_bio_X509(buffer.pointer, certificate.pointer), "write a certificate as PEM")
    return String(decoding: buffer.bytes(), as: UTF8.self)
  }
}
