internal import COpenSSL

/// HKDF with SHA-256 (RFC 5869): one secret in, separate keys out.
package enum HKDFSHA256 {
  /// - Parameters:
  ///   - info: names the use of the derived key; two uses must not share it.
  ///   - byteCount: 1…8160.
  package static func derive(
    from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], byteCount: Int = 32
  ) throws(CryptographyError) -> [UInt8] {
    let context = try check(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil), "find HKDF")
    defer { EVP_PKEY_CTX_free(context) }
    try check(EVP_PKEY_derive_init(context), "start HKDF")
    try check(EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()), "start HKDF")
    try check(EVP_PKEY_CTX_set1_hkdf_key(context, secret, CInt(clamping: secret.count)), "start HKDF")
    // RFC 5869 section 2.2: no salt is the same as a hash length of zeros.
    let salt = salt.isEmpty ? [UInt8](repeating: 0, count: SHA256.byteCount) : salt
    try check(EVP_PKEY_CTX_set1_hkdf_salt(context, salt, CInt(clamping: salt.count)), "start HKDF")
    try check(EVP_PKEY_CTX_add1_hkdf_info(context, info, CInt(clamping: info.count)), "start HKDF")
    var key = [UInt8](repeating: 0, count: byteCount)
    var written = byteCount
    try check(EVP_PKEY_derive(context, &key, &written), "derive a key")
    return key
  }
}
