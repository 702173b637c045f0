import Cryptography

/// A .p8 in whatever shape, and PEM with a certificate and its key.
enum SigningKeyFuzz {
  static func run(_ bytes: [UInt8]) throws {
    do {
      let key = try P256SigningKey(reading: bytes)
      let again = try P256SigningKey(pem: try key.pkcs8PEM())
      try demand(again.publicKey == key.publicKey, "a key survives being written")
      try demand(
        key.publicKey.isValid(signature: try key.sign(bytes), for: bytes), "what a key signs, its public part confirms")
    } catch let error as CryptographyError {
      try demand(error.code.hasPrefix("key_"), "a refusal is one of the known ones, not \(error.code)")
    }
    _ = try? P256SigningKey(pem: bytes)
    if let identity = try? PEMIdentity.read(certificate: bytes, passphrase: "secret") {
      try IdentityFuzz.read(identity)
    }
    for certificate in (try? X509Certificate.all(pem: bytes)) ?? [] { try IdentityFuzz.read(certificate) }
  }
}
