internal import COpenSSL
import PabalPrimitives

/// A keyed one-to-one map of 16-byte blocks: AES-256 on a single block.
///
/// It makes ids that are computed instead of stored: a counter pair goes in, an opaque id comes out, and only the key
/// leads back. It is not encryption of messages: equal blocks give equal results, which is what an id needs.
package struct AES256Permutation: Sendable, Unprintable {
  package static let blockByteCount = 16
  private let key: [UInt8]

  /// - Throws: `wrong_length` unless `key` has 32 bytes.
  package init(key: [UInt8]) throws(CryptographyError) {
    guard key.count == AES256GCM.keyByteCount else {
      throw .wrongLength("An AES-256 key", expected: AES256GCM.keyByteCount, found: key.count)
    }
    self.key = key
  }

  /// The image of a block of 16 bytes.
  ///
  /// - Throws: `wrong_length` for any other number of bytes.
  package func apply(to block: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try run(block, direction: 1)
  }

  /// Undoes `apply(to:)`.
  package func invert(_ block: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try run(block, direction: 0)
  }

  private func run(_ block: [UInt8], direction: CInt) throws(CryptographyError) -> [UInt8] {
    guard block.count == Self.blockByteCount else {
      throw .wrongLength("A block", expected: Self.blockByteCount, found: block.count)
    }
    let context = try check(EVP_CIPHER_CTX_new(), "make a cipher state")
    defer { EVP_CIPHER_CTX_free(context) }
    try check(EVP_CipherInit_ex(context, EVP_aes_256_ecb(), nil, key, nil, direction), "start AES")
    EVP_CIPHER_CTX_set_padding(context, 0)
    // One block more than needed: the interface may write as much as input plus one block.
    var result = [UInt8](repeating: 0, count: 2 * Self.blockByteCount)
    var written: CInt = 0
    try check(EVP_CipherUpdate(context, &result, &written, block, CInt(block.count)), "permute a block")
    guard Int(written) == Self.blockByteCount else { throw openSSLFailure("permute a block") }
    return [UInt8](result.prefix(Self.blockByteCount))
  }
}
