package import Cryptography
package import PabalPrimitives

/// What signs the provider tokens of one team: an APNs authentication key (.p8) and its two ids.
package struct APNsTokenCredential: Sendable {
  package let teamID: String
  package let keyID: String
  package let signingKey: P256SigningKey
  /// Gives provider tokens out instead of minting one here, so that several processes can share one. Called with the
  /// wall time and with tokens that must not be given again, on the thread that sends.
  package var tokenSource: TokenSource?

  package typealias TokenSource = @Sendable (_ now: WallTime, _ unwanted: [String]) throws -> String

  /// - Throws: `credential_invalid` unless both ids are ten letters or digits.
  package init(teamID: String, keyID: String, signingKey: P256SigningKey) throws(APNsCredentialError) {
    try Self.check(teamID, "team id", "developer.apple.com › Membership")
    try Self.check(keyID, "key id", "developer.apple.com › Keys")
    self.teamID = teamID
    self.keyID = keyID
    self.signingKey = signingKey
  }

  /// A provider token, and how long ago it was issued.
  package func token(at now: WallTime, unwanted: [String]) throws -> (text: String, age: Duration) {
    guard let tokenSource else { return (try ProviderToken.mint(for: self, issuedAt: now), .zero) }
    let text = try tokenSource(now, unwanted)
    let issuedAt = try ProviderToken.inspect(text).issuedAt
    return (text, max(.zero, issuedAt.duration(to: now)))
  }

  /// The id inside `AuthKey_<ID>.p8`, the name under which Apple hands out keys.
  package static func keyID(fromFileName name: String) -> String? {
    guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
    let id = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return isIdentifier(id) ? id : nil
  }

  private static func check(_ id: String, _ name: String, _ source: String) throws(APNsCredentialError) {
    guard isIdentifier(id) else {
      throw APNsCredentialError(
        code: "credential_invalid",
        message: "The \(name) must be \(APNsLimits.identifierCharacters) letters or digits, as in \(source).")
    }
  }

  private static func isIdentifier(_ id: String) -> Bool {
    id.utf8.count == APNsLimits.identifierCharacters
      && id.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
      }
  }
}
