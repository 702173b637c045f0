internal import COpenSSL

/// Bytes that nobody can guess, from OpenSSL's generator seeded by the kernel.
package enum SecureRandom {
  /// - Throws: `openssl_failed` when the generator is not seeded (a kernel without entropy).
  package static func bytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try check(RAND_bytes(&bytes, CInt(clamping: count)), "make random bytes")
    return bytes
  }
}
