internal import COpenSSL

/// HMAC-SHA256 (RFC 2104) under one key. The keyed state is made once; each code costs a copy of it.
package struct HMACSHA256: Sendable {
  package static let byteCount = 32
  private let keyed: OpenSSLObject

  /// - Parameter key: any length but empty; 32 random bytes are the right choice.
  package init(key: [UInt8]) throws(CryptographyError) {
    guard !key.isEmpty else { throw .wrongLength("An HMAC key", expected: Self.byteCount, found: 0) }
    let algorithm = try check(EVP_MAC_fetch(nil, "HMAC", nil), "find HMAC")
    defer { EVP_MAC_free(algorithm) }
    let context = try check(EVP_MAC_CTX_new(algorithm), "make an HMAC state")
    keyed = OpenSSLObject(context) { EVP_MAC_CTX_free($0) }
    // An OSSL_PARAM keeps the pointers that it is given, so both texts must live until the state is keyed.
    let status = OSSL_MAC_PARAM_DIGEST.withCString { name in
      "SHA256".withCString { digest in
        let parameters = [
          OSSL_PARAM_construct_utf8_string(name, UnsafeMutablePointer(mutating: digest), 0),
          OSSL_PARAM_construct_end(),
        ]
        return EVP_MAC_init(context, key, key.count, parameters)
      }
    }
    try check(status, "key an HMAC state")
  }

  /// The 32-byte code of `message`.
  package func code(for message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let context = try check(EVP_MAC_CTX_dup(keyed.pointer), "copy an HMAC state")
    defer { EVP_MAC_CTX_free(context) }
    try check(EVP_MAC_update(context, message, message.count), "compute an HMAC")
    var code = [UInt8](repeating: 0, count: Self.byteCount)
    var written = 0
    try check(EVP_MAC_final(context, &code, &written, code.count), "compute an HMAC")
    return code
  }

  /// Compares in a time that does not depend on where the codes differ.
  package func isValid(_ code: [UInt8], for message: [UInt8]) throws(CryptographyError) -> Bool {
    let expected = try self.code(for: message)
    return code.count == expected.count && CRYPTO_memcmp(code, expected, code.count) == 0
  }
}
