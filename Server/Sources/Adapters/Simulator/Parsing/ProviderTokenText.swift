import PabalPrimitives

/// A provider token taken apart: a JWS in compact form (RFC 7515 section 3.1) with Apple's claims.
///
/// Source: Apple, "Establishing a token-based connection to APNs". `alg` is ES256 and nothing else, `kid` and `iss`
/// have ten characters, `iat` is an integer of seconds; the signature is raw r and s, 64 bytes (RFC 7518 section 3.4).
struct ProviderTokenText {
  struct Fault: Error, Equatable {
    let problem: String
  }

  let keyID: String
  let teamID: String
  let issuedAt: Int64
  /// What is signed: the first two parts with the dot between.
  let signedBytes: [UInt8]
  let signature: [UInt8]

  init(parsing text: Substring) throws(Fault) {
    guard text.utf8.count <= StandInLimits.providerTokenBytes else { throw Fault(problem: "the token is too long") }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw Fault(problem: "a token has three parts") }
    guard let header = Base64URL.decode(String(parts[0])), let claims = Base64URL.decode(String(parts[1])),
      let signature = Base64URL.decode(String(parts[2]))
    else { throw Fault(problem: "a part is not base64url without padding") }
    guard signature.count == 64 else { throw Fault(problem: "the signature is not 64 bytes of r and s") }

    let head = try Self.members(of: header)
    guard try Self.text("alg", in: head, of: header) == "ES256" else { throw Fault(problem: "alg is not ES256") }
    guard let keyID = try Self.text("kid", in: head, of: header), keyID.utf8.count == 10 else {
      throw Fault(problem: "kid is not a key id of ten characters")
    }
    let body = try Self.members(of: claims)
    guard let teamID = try Self.text("iss", in: body, of: claims), teamID.utf8.count == 10 else {
      throw Fault(problem: "iss is not a team id of ten characters")
    }
    guard let issued = body.first(where: { $0.name.elementsEqual("iat".utf8) }), issued.kind == .number,
      let issuedAt = Int64(String(decoding: claims[issued.range], as: UTF8.self))
    else { throw Fault(problem: "iat is not an integer of seconds") }
    self.keyID = keyID
    self.teamID = teamID
    self.issuedAt = issuedAt
    self.signature = signature
    self.signedBytes = Array((parts[0] + "." + parts[1]).utf8)
  }

  private static func members(of bytes: [UInt8]) throws(Fault) -> [StrictJSONScanner.Member] {
    do throws(StrictJSONScanner.Fault) {
      return try StrictJSONScanner.members(of: bytes, maximumDepth: 4)
    } catch {
      throw Fault(problem: "a part is not a JSON object: \(error.problem)")
    }
  }

  private static func text(
    _ name: String, in members: [StrictJSONScanner.Member], of bytes: [UInt8]
  ) throws(Fault) -> String? {
    guard let member = members.first(where: { $0.name.elementsEqual(name.utf8) }) else { return nil }
    do throws(StrictJSONScanner.Fault) {
      return try StrictJSONScanner.text(of: member, in: bytes)
    } catch {
      throw Fault(problem: "a claim is not text")
    }
  }
}
