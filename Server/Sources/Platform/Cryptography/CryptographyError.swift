package import PabalPrimitives

/// A failure of key material or of a cryptographic operation.
///
/// `message` says what happened and what to do; it never holds key bytes, tokens or plaintext.
package struct CryptographyError: CodedError {
  package let code: String
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  package init(code: String, message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = Place(file: file, line: line)
  }
}

extension CryptographyError {
  static func keyNotPEM(_ found: String, file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "key_not_pem",
      message: "\(found). Give the .p8 file as downloaded: text that starts with -----BEGIN PRIVATE KEY-----.",
      file: file, line: line)
  }

  static func keyEncrypted(file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "key_encrypted",
      message: "The encrypted key needs a passphrase, which an APNs authentication key never has. "
        + "Remove the encryption with `openssl pkcs8 -in KEY -out PLAIN.p8`.",
      file: file, line: line)
  }

  static func keyWrongType(_ found: String, file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "key_wrong_type",
      message:
        "Wrong key type for ES256: found \(found). Give a P-256 private key (an APNs authentication key is one).",
      file: file, line: line)
  }

  static func keyMalformed(_ what: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line)
    -> CryptographyError
  {
    CryptographyError(
      code: "key_malformed",
      message: "\(what). The file is damaged or was shortened: copy it again from its source.",
      cause: cause, file: file, line: line)
  }

  static func wrongLength(_ what: String, expected: Int, found: Int, file: String = #fileID, line: Int = #line)
    -> CryptographyError
  {
    CryptographyError(
      code: "wrong_length", message: "\(what) must be \(expected) bytes long, found \(found).", file: file, line: line)
  }

  static func authenticationFailed(file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "authentication_failed",
      message: "The sealed data was changed, or was sealed under another key or for another place. "
        + "Check that the master key belongs to this data.",
      file: file, line: line)
  }
}

// MARK: - Certificates and their containers

extension CryptographyError {
  static func certificateMalformed(
    found: String? = nil, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line
  ) -> CryptographyError {
    CryptographyError(
      code: "certificate_malformed",
      message: (found.map { "There is no certificate, found \($0)" } ?? "The certificate cannot be read")
        + ". Give PEM text with a -----BEGIN CERTIFICATE----- block.",
      cause: cause, file: file, line: line)
  }

  static func identityMismatch(certificate: String?, key: String, file: String = #fileID, line: Int = #line)
    -> CryptographyError
  {
    CryptographyError(
      code: "certificate_key_mismatch",
      message: "The private key (\(key)) is not the one of the certificate\(certificate.map { " “\($0)”" } ?? ""). "
        + "Give the key with which the certificate was requested.",
      file: file, line: line)
  }

  static func keyMissing(_ what: String, file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "key_missing",
      message: "\(what). Give the private key as PEM text that starts with -----BEGIN PRIVATE KEY-----.", file: file,
      line: line)
  }

  static func passphraseMissing(_ what: String, file: String = #fileID, line: Int = #line) -> CryptographyError {
    CryptographyError(
      code: "passphrase_missing", message: "\(what) is encrypted and no passphrase was given. Give its passphrase.",
      file: file, line: line)
  }

  static func passphraseWrong(_ what: String, cause: (any Error)?, file: String = #fileID, line: Int = #line)
    -> CryptographyError
  {
    CryptographyError(
      code: "passphrase_wrong",
      message: "The passphrase does not open \(what). Give the one that was set when it was exported.",
      cause: cause, file: file, line: line)
  }

  static func p12(
    _ code: String, _ message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line
  )
    -> CryptographyError
  {
    CryptographyError(code: code, message: message, cause: cause, file: file, line: line)
  }
}
