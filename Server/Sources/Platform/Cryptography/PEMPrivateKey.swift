internal import COpenSSL
import PabalPrimitives

/// The private key of a PEM text, encrypted or not, of any kind that TLS can use.
enum PEMPrivateKey {
  static func read(_ pem: [UInt8], passphrase: String?) throws(CryptographyError) -> PrivateKey {
    let document: PEMDocument
    do {
      document = try PEMDocument(pem)
    } catch {
      guard error.code == "key_not_pem" else { throw error }
      throw .keyMissing("The key file is not PEM text")
    }
    guard let block = document.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
      throw .keyMissing("The file holds \(PEMLabel.words(for: document.blocks[0].label)) and no private key")
    }
    guard block.label != "OPENSSH PRIVATE KEY" else {
      throw .keyMalformed("An OpenSSH key cannot be the key of an APNs certificate")
    }
    guard block.isEncrypted || block.label == "ENCRYPTED PRIVATE KEY" else { return try PrivateKey(der: block.der) }
    guard let passphrase, !passphrase.isEmpty else { throw .passphraseMissing("The private key") }
    return try block.isEncrypted
      ? decryptTraditional(pem, passphrase: passphrase) : decryptPKCS8(block.der, passphrase: passphrase)
  }

  /// `ENCRYPTED PRIVATE KEY` (RFC 5958).
  private static func decryptPKCS8(_ der: [UInt8], passphrase: String) throws(CryptographyError) -> PrivateKey {
    let buffer = try MemoryBIO(der)
    let key = withPassphrase(passphrase) { d2i_PKCS8PrivateKey_bio(buffer.pointer, nil, nil, $0) }
    return try opened(key)
  }

  /// `Proc-Type: 4,ENCRYPTED` inside the block (RFC 1421), which only OpenSSL's own PEM reader understands.
  private static func decryptTraditional(
    _ pem: [UInt8], passphrase: String
  ) throws(CryptographyError) -> PrivateKey {
    let buffer = try MemoryBIO(pem.filter { $0 != UInt8(ascii: "\r") })
    let key = withPassphrase(passphrase) { PEM_read_bio_PrivateKey(buffer.pointer, nil, nil, $0) }
    return try opened(key)
  }

  private static func opened(_ key: OpaquePointer?) throws(CryptographyError) -> PrivateKey {
    guard let key else { throw .passphraseWrong("the private key", cause: OpenSSLErrorStack.drained()) }
    return PrivateKey(owning: .key(key))
  }

  /// Without a call-back OpenSSL takes the last argument as the passphrase itself.
  private static func withPassphrase(
    _ passphrase: String, _ body: (UnsafeMutableRawPointer?) -> OpaquePointer?
  ) -> OpaquePointer? {
    var bytes = Array(passphrase.utf8CString)
    return bytes.withUnsafeMutableBytes { body($0.baseAddress) }
  }
}
