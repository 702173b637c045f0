internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
  package static let byteCount = 32

  /// The 32-byte digest of `message`.
  package static func hash(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    try check(EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil), "hash")
    return digest
  }
}
