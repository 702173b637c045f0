package import Cryptography
package import PabalPrimitives

/// The JWT that proves who sends (Apple, "Establishing a token-based connection to APNs"; RFC 7515, RFC 7518).
package enum ProviderToken {
  /// The claims and header of a token, unverified.
  package struct Contents: Hashable, Sendable {
    package let algorithm: String
    package let keyID: String
    package let teamID: String
    package let issuedAt: WallTime
  }

  /// A newly signed token: `alg` ES256, `kid`, `iss`, `iat` in seconds, and nothing else.
  package static func mint(for credential: APNsTokenCredential, issuedAt: WallTime) throws(CryptographyError) -> String
  {
    let header: JSONValue = ["alg": "ES256", "kid": .string(credential.keyID)]
    let claims: JSONValue = ["iss": .string(credential.teamID), "iat": .int(issuedAt.seconds)]
    let signed = Base64URL.encode(header.encoded) + "." + Base64URL.encode(claims.encoded)
    let signature = try credential.signingKey.sign(Array(signed.utf8))
    return signed + "." + Base64URL.encode(signature)
  }

  /// Reads a token without judging it.
  ///
  /// - Throws: `provider_token_malformed`.
  package static func inspect(_ token: String) throws(APNsRequestError) -> Contents {
    let (header, claims, _) = try parts(token)
    guard let algorithm = header["alg"]?.string else { throw malformed("the header has no alg") }
    guard let keyID = header["kid"]?.string else { throw malformed("the header has no kid") }
    guard let teamID = claims["iss"]?.string else { throw malformed("the claims have no iss") }
    guard let issuedAt = claims["iat"]?.int else { throw malformed("iat is missing or not a whole number") }
    return Contents(
      algorithm: algorithm, keyID: keyID, teamID: teamID, issuedAt: WallTime(seconds: Int64(issuedAt)))
  }

  /// The two objects of a token, and its signature as it stands there.
  ///
  /// - Throws: `provider_token_malformed`.
  package static func parts(
    _ token: String
  ) throws(APNsRequestError) -> (header: JSONSlice, claims: JSONSlice, signature: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw malformed("it has \(parts.count) parts instead of three") }
    return (try object(parts[0], "header"), try object(parts[1], "claims"), String(parts[2]))
  }

  /// Whether `token` carries a signature of `key`.
  package static func isSigned(_ token: String, by key: P256PublicKey) -> Bool {
    guard let dot = token.lastIndex(of: "."),
      let signature = Base64URL.decode(String(token[token.index(after: dot)...]))
    else { return false }
    return key.isValid(signature: signature, for: Array(token[..<dot].utf8))
  }

  private static func object(_ part: Substring, _ name: String) throws(APNsRequestError) -> JSONSlice {
    guard let bytes = Base64URL.decode(String(part)) else { throw malformed("the \(name) is not base64url") }
    let object: JSONSlice
    do {
      object = try JSONSlice(parsing: bytes)
    } catch {
      throw malformed("the \(name) is not JSON")
    }
    guard object.kind == .object else { throw malformed("the \(name) is not a JSON object") }
    return object
  }

  private static func malformed(
    _ why: String, file: String = #fileID, line: Int = #line
  ) -> APNsRequestError {
    APNsRequestError(
      code: "provider_token_malformed",
      message: "This is no provider token: \(why). Make one with `pabal jwt make`.", file: file, line: line)
  }
}
