internal import COpenSSL
import PabalPrimitives

/// AES-256-GCM (NIST SP 800-38D) under one key, with a fresh random nonce for each seal.
///
/// A sealed box is `nonce (12) ‖ ciphertext ‖ tag (16)`. One key must not seal more than 2^32 boxes.
package struct AES256GCM: Sendable, Unprintable {
  package static let keyByteCount = 32
  package static let nonceByteCount = 12
  package static let tagByteCount = 16
  /// What a seal adds to the plaintext.
  package static let overhead = nonceByteCount + tagByteCount

  private let key: [UInt8]

  /// - Throws: `wrong_length` unless `key` has 32 bytes.
  package init(key: [UInt8]) throws(CryptographyError) {
    guard key.count == Self.keyByteCount else {
      throw .wrongLength("An AES-256 key", expected: Self.keyByteCount, found: key.count)
    }
    self.key = key
  }

  /// - Parameter place: authenticated but not stored, e.g. table, column and row key, so that a box cannot be moved.
  package func seal(_ plaintext: [UInt8], for place: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let nonce = try SecureRandom.bytes(Self.nonceByteCount)
    let context = try check(EVP_CIPHER_CTX_new(), "make a cipher state")
    defer { EVP_CIPHER_CTX_free(context) }
    try check(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce), "start AES-GCM")
    var written: CInt = 0
    try check(EVP_EncryptUpdate(context, nil, &written, place, CInt(clamping: place.count)), "authenticate")
    var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
    try check(
      EVP_EncryptUpdate(context, &ciphertext, &written, plaintext, CInt(clamping: plaintext.count)), "encrypt")
    var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
    try check(EVP_EncryptFinal_ex(context, &tag, &written), "finish AES-GCM")
    try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tag.count), &tag), "read the AES-GCM tag")
    return nonce + ciphertext + tag
  }

  /// - Throws: `authentication_failed` when `box` was not sealed under this key for this `place`.
  package func open(_ box: [UInt8], for place: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard box.count >= Self.overhead else { throw .authenticationFailed() }
    let nonce = [UInt8](box.prefix(Self.nonceByteCount))
    var tag = [UInt8](box.suffix(Self.tagByteCount))
    let ciphertext = [UInt8](box[Self.nonceByteCount..<(box.count - Self.tagByteCount)])
    let context = try check(EVP_CIPHER_CTX_new(), "make a cipher state")
    defer { EVP_CIPHER_CTX_free(context) }
    try check(EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce), "start AES-GCM")
    var written: CInt = 0
    try check(EVP_DecryptUpdate(context, nil, &written, place, CInt(clamping: place.count)), "authenticate")
    var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
    try check(
      EVP_DecryptUpdate(context, &plaintext, &written, ciphertext, CInt(clamping: ciphertext.count)), "decrypt")
    try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag), "set the AES-GCM tag")
    var unused: UInt8 = 0
    guard EVP_DecryptFinal_ex(context, &unused, &written) == 1 else {
      _ = OpenSSLErrorStack.drained()
      throw .authenticationFailed()
    }
    return plaintext
  }
}
