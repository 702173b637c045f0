internal import COpenSSL
import PabalPrimitives

/// A P-256 private key that signs with ES256 (ECDSA, SHA-256; RFC 7518 section 3.4).
///
/// It does not print: `description` shows the fingerprint of the public key only.
package struct P256SigningKey: Sendable, CustomStringConvertible {
  private let key: OpenSSLObject
  package let publicKey: P256PublicKey

  /// Reads PKCS#8 (`PRIVATE KEY`, with or without the optional inner fields of RFC 5915) or SEC1 (`EC PRIVATE KEY`,
  /// also after an `EC PARAMETERS` block), lax about white space.
  ///
  /// - Throws: `key_not_pem`, `key_encrypted`, `key_wrong_type` (RSA, another curve, a certificate or public key) or
  ///   `key_malformed`.
  package init(pem: [UInt8]) throws(CryptographyError) {
    let document = try PEMDocument(pem)
    if document.blocks.contains(where: { $0.isEncrypted || $0.label == "ENCRYPTED PRIVATE KEY" }) {
      throw .keyEncrypted()
    }
    guard let block = document.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
      throw .keyWrongType(PEMLabel.words(for: document.blocks[0].label))
    }
    try self.init(der: block.der)
  }

  package init(pem: String) throws(CryptographyError) {
    try self.init(pem: Array(pem.utf8))
  }

  /// Reads a key in any shape in which keys are pasted into forms, variables and files: PEM or DER, without the BEGIN
  /// line, in quotes, as a JSON string, with `\n` as two characters, in base64 once more.
  ///
  /// - Throws: as `init(pem:)`, naming what the bytes are instead.
  package init(reading bytes: [UInt8]) throws(CryptographyError) {
    try self.init(der: try PastedKey(bytes).der)
  }

  private init(der: [UInt8]) throws(CryptographyError) {
    let parsed = der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
    }
    guard let parsed else {
      throw .keyMalformed("The PEM text holds no readable private key", cause: OpenSSLErrorStack.drained())
    }
    try self.init(owning: .key(parsed))
  }

  private init(owning key: OpenSSLObject) throws(CryptographyError) {
    try Self.requireP256(key.pointer)
    let context = try check(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "examine a key")
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_pairwise_check(context) == 1 else {
      throw .keyMalformed(
        "Public and private part of the key do not belong together", cause: OpenSSLErrorStack.drained())
    }
    self.key = key
    publicKey = try P256PublicKey(of: key.pointer)
  }

  /// A new random key.
  package static func generate() throws(CryptographyError) -> P256SigningKey {
    let context = try check(EVP_PKEY_CTX_new_from_name(nil, "EC", nil), "prepare a key")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_keygen_init(context), "prepare a key")
    try check(EVP_PKEY_CTX_set_group_name(context, P256PublicKey.groupName), "choose P-256")
    var made: OpaquePointer?
    try check(EVP_PKEY_generate(context, &made), "generate a key")
    return try P256SigningKey(owning: .key(try check(made, "generate a key")))
  }

  /// The ES256 signature of `message`: r then s, 32 bytes each. Two calls give different bytes.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let context = try check(EVP_MD_CTX_new(), "make a digest state")
    defer { EVP_MD_CTX_free(context) }
    try check(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer), "start a signature")
    var count = 0
    try check(EVP_DigestSign(context, nil, &count, message, message.count), "size a signature")
    var der = [UInt8](repeating: 0, count: count)
    try check(EVP_DigestSign(context, &der, &count, message, message.count), "sign")
    return try ES256Signature.raw(fromDER: der.prefix(count))
  }

  /// `-----BEGIN PRIVATE KEY-----` text, not encrypted: write it to files with mode 0600 only.
  package func pkcs8PEM() throws(CryptographyError) -> String {
    let buffer = try MemoryBIO()
    try check(
      PEM_write_bio_PKCS8PrivateKey(buffer.pointer, key.pointer, nil, nil, 0, nil, nil), "write a key as PEM")
    return String(decoding: buffer.bytes(), as: UTF8.self)
  }

  package var description: String { "P256SigningKey(public \(publicKey))" }

  func withPointer<Result>(
    _ body: (OpaquePointer) throws(CryptographyError) -> Result
  ) throws(CryptographyError) -> Result {
    try body(key.pointer)
  }

  private static func requireP256(_ key: OpaquePointer) throws(CryptographyError) {
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
      let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "an unknown kind"
      throw .keyWrongType("\(name), \(EVP_PKEY_get_bits(key)) bits")
    }
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    try check(EVP_PKEY_get_group_name(key, &name, name.count, &count), "name a curve")
    let group = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard group == P256PublicKey.groupName else { throw .keyWrongType("an EC key on the curve \(group)") }
  }
}
