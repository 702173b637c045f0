package import PabalPrimitives

/// A failure of key material or of a cryptographic operation.
///
/// `message` says what happened and what to do; it never holds key bytes, tokens or plaintext.
package struct CryptographyError: CodedError {
  package let code: String
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  package init(code: String, message: String, cause: (any Error)? = nil, place: Place = Place()) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = place
  }
}

extension CryptographyError {
  static func keyNotPEM(_ found: String, place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "key_not_pem",
      message: "\(found). Give the .p8 file as downloaded: text that starts with -----BEGIN PRIVATE KEY-----.",
      place: place)
  }

  static func keyEncrypted(place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "key_encrypted",
      message: "The encrypted key needs a passphrase, which is not supported yet. "
        + "Remove the encryption with `openssl pkcs8 -in KEY -out PLAIN.p8`.",
      place: place)
  }

  static func keyWrongType(_ found: String, place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "key_wrong_type",
      message:
        "Wrong key type for ES256: found \(found). Give a P-256 private key (an APNs authentication key is one).",
      place: place)
  }

  static func keyMalformed(_ what: String, cause: (any Error)? = nil, place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "key_malformed",
      message: "\(what). The file is damaged or was shortened: copy it again from its source.",
      cause: cause, place: place)
  }

  static func wrongLength(_ what: String, expected: Int, found: Int, place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "wrong_length", message: "\(what) must be \(expected) bytes long, found \(found).", place: place)
  }

  static func authenticationFailed(place: Place = Place()) -> CryptographyError {
    CryptographyError(
      code: "authentication_failed",
      message: "The sealed data was changed, or was sealed under another key or for another place. "
        + "Check that the master key belongs to this data.",
      place: place)
  }
}
