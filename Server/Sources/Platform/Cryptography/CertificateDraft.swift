internal import COpenSSL
import PabalPrimitives

/// An X.509 version 3 certificate (RFC 5280) between its creation and its signature.
struct CertificateDraft {
  private let certificate: OpenSSLObject

  init(
    commonName: String, key: PrivateKey, notBefore: WallTime, validity: Duration
  ) throws(CryptographyError) {
    let pointer = try check(X509_new(), "make a certificate")
    certificate = .certificate(pointer)
    try check(X509_set_version(pointer, 2), "set a certificate's version")
    try Self.setSerial(pointer)
    let start = time_t(notBefore.seconds - 3_600)
    let end = time_t(notBefore.seconds) + time_t(validity.components.seconds)
    guard ASN1_TIME_set(X509_getm_notBefore(pointer), start) != nil,
      ASN1_TIME_set(X509_getm_notAfter(pointer), end) != nil
    else { throw openSSLFailure("set a certificate's validity") }
    try addName(NID_commonName, commonName)
    try check(X509_set_pubkey(pointer, key.object.pointer), "set a certificate's key")
  }

  /// An attribute of the subject.
  func addName(_ nid: CInt, _ value: String) throws(CryptographyError) {
    let subject = try check(X509_get_subject_name(certificate.pointer), "name a certificate")
    let text = Array(value.utf8)
    try check(
      X509_NAME_add_entry_by_NID(subject, nid, MBSTRING_UTF8, text, CInt(clamping: text.count), -1, 0),
      "name a certificate")
  }

  func addExtension(_ value: CertificateExtension) throws(CryptographyError) {
    let name = try check(OBJ_txt2obj(value.oid, 1), "name a certificate extension")
    defer { ASN1_OBJECT_free(name) }
    guard let octets = ASN1_OCTET_STRING_new() else { throw openSSLFailure("make a certificate extension") }
    defer { ASN1_OCTET_STRING_free(octets) }
    try check(ASN1_OCTET_STRING_set(octets, value.der, CInt(clamping: value.der.count)), "make a certificate extension")
    let made = try check(
      X509_EXTENSION_create_by_OBJ(nil, name, value.isCritical ? 1 : 0, octets), "make a certificate extension")
    defer { X509_EXTENSION_free(made) }
    try check(X509_add_ext(certificate.pointer, made, -1), "add a certificate extension")
  }

  /// - Parameter value: in the syntax of x509v3_config(5).
  func addExtension(_ nid: CInt, _ value: String, issuer: OpenSSLObject?) throws(CryptographyError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer?.pointer ?? certificate.pointer, certificate.pointer, nil, nil, 0)
    let made = try check(X509V3_EXT_conf_nid(nil, &context, nid, value), "make a certificate extension")
    defer { X509_EXTENSION_free(made) }
    try check(X509_add_ext(certificate.pointer, made, -1), "add a certificate extension")
  }

  func signed(by key: P256SigningKey, issuer: OpenSSLObject?) throws(CryptographyError) -> OpenSSLObject {
    let issuerName = try check(X509_get_subject_name(issuer?.pointer ?? certificate.pointer), "name an issuer")
    try check(X509_set_issuer_name(certificate.pointer, issuerName), "name an issuer")
    let size = try key.withPointer { (key) throws(CryptographyError) in
      X509_sign(certificate.pointer, key, EVP_sha256())
    }
    guard size > 0 else { throw openSSLFailure("sign a certificate") }
    return certificate
  }

  private static func setSerial(_ certificate: OpaquePointer) throws(CryptographyError) {
    // 20 octets at most, positive, unpredictable (RFC 5280 section 4.1.2.2).
    var bytes = try SecureRandom.bytes(16)
    bytes[0] = (bytes[0] & 0x7F) | 0x40
    let number = try check(BN_bin2bn(bytes, CInt(bytes.count), nil), "number a certificate")
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil else {
      throw openSSLFailure("number a certificate")
    }
  }
}

/// An extension that a certificate shall have (RFC 5280 section 4.2).
package struct CertificateExtension: Sendable {
  /// Dotted decimal.
  package let oid: String
  /// The value, without the OCTET STRING around it.
  package let der: [UInt8]
  package let isCritical: Bool

  package init(oid: String, der: [UInt8], isCritical: Bool = false) {
    self.oid = oid
    self.der = der
    self.isCritical = isCritical
  }
}
