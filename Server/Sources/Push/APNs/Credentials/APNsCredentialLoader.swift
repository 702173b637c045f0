internal import Cryptography
package import PabalPrimitives

/// A credential ready for use, and what its user should know about it.
package struct APNsLoadedCredential: Sendable {
  package var credential: APNsCredential
  /// Whole sentences; nothing in them is secret.
  package let warnings: [String]
}

/// Makes credentials of the contents of files. Everything that can be wrong with them is found here.
package enum APNsCredentialLoader {
  /// An authentication key.
  ///
  /// - Parameters:
  ///   - p8: the file's contents, in any shape in which keys are pasted (see `P256SigningKey.init(reading:)`).
  ///   - fileName: last part of its path; `AuthKey_<ID>.p8` tells the key's id.
  ///   - keyID: `nil`: by `fileName`.
  /// - Throws: `key_id_missing`, `ids_swapped`, `credential_invalid`, and the codes of `Cryptography`.
  package static func token(
    p8: [UInt8], fileName: String? = nil, keyID: String? = nil, teamID: String
  ) throws(APNsCredentialError) -> APNsLoadedCredential {
    let named = fileName.flatMap(APNsTokenCredential.keyID(fromFileName:))
    guard let keyID = keyID ?? named else {
      throw APNsCredentialError(
        code: "key_id_missing",
        message: "The key id is missing: the file is not called AuthKey_<ID>.p8, as Apple names it. Give the id; it is "
          + "listed at developer.apple.com › Keys.")
    }
    if let named, named == teamID, keyID != named {
      throw APNsCredentialError(
        code: "ids_swapped",
        message: "Key id and team id look swapped: the file is called AuthKey_\(named).p8, and \(teamID) was given as "
          + "the team. Exchange the two.")
    }
    let key = try coded { () throws(CryptographyError) in try P256SigningKey(reading: p8) }
    let credential = try APNsTokenCredential(teamID: teamID, keyID: keyID, signingKey: key)
    var warnings: [String] = []
    if let named, named != keyID {
      warnings.append(
        "The file is called AuthKey_\(named).p8, but the key id given is \(keyID). If APNs answers "
          + "InvalidProviderToken, look here first.")
    }
    if keyID == teamID {
      warnings.append(
        "Key id and team id are the same. They never are at Apple: see developer.apple.com › Keys and › Membership.")
    }
    return APNsLoadedCredential(credential: .token(credential), warnings: warnings)
  }

  /// A certificate and its key in a .p12.
  package static func certificate(
    p12: [UInt8], passphrase: String?, now: WallTime
  ) throws(APNsCredentialError) -> APNsLoadedCredential {
    try certificate(coded { () throws(CryptographyError) in try PKCS12.read(p12, passphrase: passphrase) }, now: now)
  }

  /// A certificate and its key as PEM texts.
  ///
  /// - Parameter key: `nil`: in the same text.
  package static func certificate(
    pem: [UInt8], key: [UInt8]?, passphrase: String?, now: WallTime
  ) throws(APNsCredentialError) -> APNsLoadedCredential {
    let identity = try coded { () throws(CryptographyError) in
      try PEMIdentity.read(certificate: pem, key: key, passphrase: passphrase)
    }
    return try certificate(identity, now: now)
  }

  private static func certificate(
    _ identity: CertificateIdentity, now: WallTime
  ) throws(APNsCredentialError) -> APNsLoadedCredential {
    let credential = try APNsCertificateCredential(identity: identity, now: now)
    return APNsLoadedCredential(
      credential: .certificate(credential), warnings: [credential.expiryWarning(now: now)].compactMap { $0 })
  }

  private static func coded<Value>(
    _ body: () throws(CryptographyError) -> Value
  ) throws(APNsCredentialError) -> Value {
    do {
      return try body()
    } catch {
      throw APNsCredentialError(code: error.code, message: error.message, cause: error.cause)
    }
  }
}
