internal import COpenSSL
package import PabalPrimitives

/// A certificate as its holder presents it (RFC 5280), read and not judged.
package struct X509Certificate: Sendable {
  /// The exact bytes.
  package let der: [UInt8]
  let object: OpenSSLObject

  /// - Throws: `certificate_malformed` unless `der` is one certificate and nothing else.
  package init(der: [UInt8]) throws(CryptographyError) {
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      guard let certificate = d2i_X509(nil, &cursor, buffer.count) else { return nil }
      guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_free(certificate)
        return nil
      }
      return certificate
    }
    guard let parsed else { throw .certificateMalformed(cause: OpenSSLErrorStack.drained()) }
    self.der = der
    object = .certificate(parsed)
  }

  /// A finished certificate that OpenSSL holds already.
  init(sharing object: OpenSSLObject) throws(CryptographyError) {
    self.object = object
    der = try Self.encoding(of: object.pointer)
  }

  /// All `CERTIFICATE` blocks of a PEM text, in its order.
  ///
  /// - Throws: `certificate_malformed` when there is none or one cannot be read.
  package static func all(pem: [UInt8]) throws(CryptographyError) -> [X509Certificate] {
    let document: PEMDocument
    do {
      document = try PEMDocument(pem)
    } catch {
      throw .certificateMalformed(cause: error)
    }
    var certificates: [X509Certificate] = []
    for block in document.blocks where PEMLabel.certificates.contains(block.label) {
      certificates.append(try X509Certificate(der: block.der))
    }
    guard !certificates.isEmpty else {
      throw .certificateMalformed(found: document.blocks.first.map { PEMLabel.words(for: $0.label) })
    }
    return certificates
  }

  /// `-----BEGIN CERTIFICATE-----` text.
  package var pem: String {
    PEMLabel.block("CERTIFICATE", der)
  }

  /// SHA-256 of the exact bytes, as `openssl x509 -fingerprint -sha256` prints it without colons, in lower case.
  package var fingerprint: String {
    get throws(CryptographyError) { Hex.encode(try SHA256.hash(der)) }
  }

  // MARK: Names

  package var commonName: String? { Self.entry(X509_get_subject_name(object.pointer), NID_commonName) }

  /// Attribute `UID` (0.9.2342.19200300.100.1.1) of the subject.
  package var userID: String? { Self.entry(X509_get_subject_name(object.pointer), NID_userId) }

  package var organizationalUnit: String? {
    Self.entry(X509_get_subject_name(object.pointer), NID_organizationalUnitName)
  }

  package var issuerCommonName: String? { Self.entry(X509_get_issuer_name(object.pointer), NID_commonName) }

  // MARK: Validity

  /// First second in which the certificate is good.
  package var notBefore: WallTime {
    get throws(CryptographyError) { try Self.time(X509_get0_notBefore(object.pointer)) }
  }

  /// Last second in which the certificate is good.
  package var notAfter: WallTime {
    get throws(CryptographyError) { try Self.time(X509_get0_notAfter(object.pointer)) }
  }

  // MARK: Extensions

  /// The value of an extension, DER inside the OCTET STRING; `nil` when there is no such extension.
  ///
  /// - Parameter oid: dotted decimal.
  package func extensionValue(oid: String) -> [UInt8]? {
    guard let name = OBJ_txt2obj(oid, 1) else {
      _ = OpenSSLErrorStack.drained()
      return nil
    }
    defer { ASN1_OBJECT_free(name) }
    let index = X509_get_ext_by_OBJ(object.pointer, name, -1)
    guard index >= 0, let found = X509_get_ext(object.pointer, index), let value = X509_EXTENSION_get_data(found),
      let bytes = ASN1_STRING_get0_data(value)
    else { return nil }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(value))))
  }

  /// Whether this certificate's issuer could be `other`: names and key identifiers fit (the signature is not checked).
  func isIssued(by other: X509Certificate) -> Bool {
    X509_check_issued(other.object.pointer, object.pointer) == X509_V_OK
  }

  private static func entry(_ name: OpaquePointer?, _ nid: CInt) -> String? {
    let index = X509_NAME_get_index_by_NID(name, nid, -1)
    guard index >= 0, let entry = X509_NAME_get_entry(name, index), let value = X509_NAME_ENTRY_get_data(entry) else {
      return nil
    }
    var text: UnsafeMutablePointer<UInt8>?
    let count = ASN1_STRING_to_UTF8(&text, value)
    defer { CRYPTO_free(text, #fileID, #line) }
    guard count >= 0, let text else {
      _ = OpenSSLErrorStack.drained()
      return nil
    }
    return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
  }

  private static func time(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptographyError) -> WallTime {
    guard let epoch = ASN1_TIME_set(nil, 0) else { throw openSSLFailure("read a certificate's validity") }
    defer { ASN1_TIME_free(epoch) }
    var (days, seconds): (CInt, CInt) = (0, 0)
    guard let time, ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
      throw .certificateMalformed(cause: OpenSSLErrorStack.drained())
    }
    return WallTime(seconds: Int64(days) * 86_400 + Int64(seconds))
  }

  private static func encoding(of certificate: OpaquePointer) throws(CryptographyError) -> [UInt8] {
    let count = i2d_X509(certificate, nil)
    guard count > 0 else { throw openSSLFailure("encode a certificate") }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return i2d_X509(certificate, &cursor)
    }
    guard written == count else { throw openSSLFailure("encode a certificate") }
    return bytes
  }
}
