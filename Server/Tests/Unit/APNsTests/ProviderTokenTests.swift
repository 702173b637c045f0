import APNs
import Cryptography
import PabalPrimitives
import Testing

@Suite struct ProviderTokenTests {
  private let credential: APNsTokenCredential

  init() throws {
    credential = try APNsTokenCredential(
      teamID: "TEAM123456", keyID: "KEY1234567", signingKey: try P256SigningKey.generate())
  }

  @Test func mintsWhatAppleAsksFor() throws {
    let token = try ProviderToken.mint(for: credential, issuedAt: WallTime(milliseconds: 1_800_000_000_999))
    let parts = token.split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    let texts = parts.prefix(2).compactMap { Base64URL.decode($0) }.map { String(decoding: $0, as: UTF8.self) }
    #expect(texts == [#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#])
    #expect(Base64URL.decode(parts[2])?.count == 64)
    #expect(ProviderToken.isSigned(token, by: credential.signingKey.publicKey))
    #expect(!ProviderToken.isSigned(token, by: try P256SigningKey.generate().publicKey))
    #expect(!ProviderToken.isSigned("x", by: credential.signingKey.publicKey))
    let contents = try ProviderToken.inspect(token)
    #expect(contents.keyID == "KEY1234567")
    #expect(contents.teamID == "TEAM123456")
    #expect(contents.issuedAt == WallTime(seconds: 1_800_000_000))
    #expect(contents.algorithm == "ES256")
  }

  @Test func inspectRefusesWhatIsNoToken() {
    let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"K"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"T","iat":"1"}"#.utf8))
    for text in ["", "a.b", "a.b.c.d", "§.§.§", "\(header).\(claims).x", "\(claims).\(claims).x"] {
      let error = #expect(throws: APNsRequestError.self) { try ProviderToken.inspect(text) }
      #expect(error?.code == "provider_token_malformed")
    }
  }

  @Test func idsAreTenCharacters() throws {
    for id in ["", "KEY123456", "KEY12345678", "KEY 123456", "KEY123456é"] {
      #expect(throws: APNsCredentialError.self) {
        try APNsTokenCredential(teamID: "TEAM123456", keyID: id, signingKey: credential.signingKey)
      }
      #expect(throws: APNsCredentialError.self) {
        try APNsTokenCredential(teamID: id, keyID: "KEY1234567", signingKey: credential.signingKey)
      }
    }
    #expect(APNsTokenCredential.keyID(fromFileName: "AuthKey_KEY1234567.p8") == "KEY1234567")
    for name in ["key.p8", "AuthKey_KEY.p8", "AuthKey_KEY1234567.pem"] {
      #expect(APNsTokenCredential.keyID(fromFileName: name) == nil)
    }
  }

  @Test func apnsIDs() throws {
    let made = APNsID(random: .seeded(1))
    #expect(try APNsID(checking: made.description) == made)
    #expect(made.description.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    #expect(Array(made.description)[14] == "4")
    #expect(APNsID(random: .seeded(2)) != made)
    let upper = try APNsID(checking: "123E4567-E89B-42D3-A456-426614174000")
    #expect(upper.description == "123e4567-e89b-42d3-a456-426614174000")
    for text in ["", "123e4567e89b42d3a456426614174000", "123e4567-e89b-42d3-a456-42661417400g"] {
      #expect(throws: APNsRequestError.self) { try APNsID(checking: text) }
    }
  }
}
