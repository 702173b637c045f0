internal import COpenSSL
import PabalPrimitives

/// A point of P-256 that verifies ES256 signatures.
package struct P256PublicKey: Sendable, Hashable, CustomStringConvertible {
  static let groupName = "prime256v1"
  /// SubjectPublicKeyInfo of a P-256 key up to the point itself (RFC 5480 section 2).
  private static let spkiPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Uncompressed point: 0x04, then x and y of 32 bytes each (SEC 1 section 2.3.3).
  package let x963: [UInt8]
  private let key: OpenSSLObject

  /// - Throws: `key_malformed` unless `x963` is an uncompressed point on the curve.
  package init(x963: [UInt8]) throws(CryptographyError) {
    guard x963.count == 65, x963[0] == 4 else {
      throw .keyMalformed("A P-256 public key is 65 bytes that start with 04")
    }
    let parsed = (Self.spkiPrefix + x963).withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return d2i_PUBKEY(nil, &cursor, buffer.count)
    }
    guard let parsed else {
      throw .keyMalformed("The point is not on P-256", cause: OpenSSLErrorStack.drained())
    }
    key = .key(parsed)
    self.x963 = x963
  }

  init(of key: OpaquePointer) throws(CryptographyError) {
    var bytes: [UInt8] = [4]
    for name in [OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y] {
      var number: OpaquePointer?
      try check(EVP_PKEY_get_bn_param(key, name, &number), "read a public key")
      defer { BN_free(number) }
      var coordinate = [UInt8](repeating: 0, count: 32)
      guard BN_bn2binpad(number, &coordinate, 32) == 32 else { throw openSSLFailure("read a public key") }
      bytes += coordinate
    }
    try self.init(x963: bytes)
  }

  /// - Parameter signature: r then s, 64 bytes. Anything else is simply not valid.
  package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
    guard let der = ES256Signature.der(fromRaw: signature), let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    let valid =
      EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
      && EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    if !valid { _ = OpenSSLErrorStack.drained() }
    return valid
  }

  package static func == (left: P256PublicKey, right: P256PublicKey) -> Bool { left.x963 == right.x963 }

  package func hash(into hasher: inout Hasher) { hasher.combine(x963) }

  package var description: String { Hex.encode(x963.prefix(6)) + "…" }
}
