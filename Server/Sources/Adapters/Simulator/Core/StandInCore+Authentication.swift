extension StandInCore {
  /// Who sends: the client certificate of the connection, or else the provider token of the request.
  mutating func authenticate(
    _ request: StandInRequest, _ fields: RequestFields
  ) throws(Refusal) -> Principal {
    guard let connection = connections[request.connection], let certificate = connection.certificate else {
      return .key(try providerKey(fields.authorization, on: request.connection))
    }
    guard certificate.isForPushes else { throw Refusal(.badCertificate, "the certificate is not one for pushes") }
    guard (certificate.notBefore...certificate.notAfter).contains(clock.now) else {
      throw Refusal(.badCertificate, "the certificate is not valid at this time")
    }
    guard certificate.environments.contains(connection.environment) else {
      throw Refusal(
        .badCertificateEnvironment, "the certificate is not for \(connection.environment.rawValue)")
    }
    return .certificate(certificate)
  }

  /// Checks the provider token: form, key, signature, environment, the connection's binding, changes, age.
  ///
  /// Source: Apple, "Establishing a token-based connection to APNs". Which of the reasons Apple gives for which breach
  /// of the binding rules is not published: another team or an unknown key is `InvalidProviderToken`, a second key on
  /// one connection `UnrelatedKeyIdInToken`.
  private mutating func providerKey(
    _ authorization: String?, on id: StandInConnectionID
  ) throws(Refusal) -> StandInKey {
    guard let authorization, let text = Self.bearerToken(authorization) else {
      throw Refusal(.missingProviderToken, "authorization is not 'bearer <token>'")
    }
    guard let connection = connections[id] else { throw Refusal(.missingProviderToken, "the connection is closed") }
    if connection.lastAuthorization == authorization, let token = connection.lastToken {
      try checkAge(token)
      return token.key
    }

    let token = try verify(authorization, text)
    if let environment = token.key.environment, environment != connection.environment {
      throw Refusal(
        .badEnvironmentKeyInToken, "key \(token.key.keyID) is for \(environment.rawValue)")
    }
    if let first = connection.firstKey {
      guard first.teamID == token.key.teamID else {
        throw Refusal(.invalidProviderToken, "this connection belongs to team \(first.teamID)")
      }
      guard first.goesTogether(with: token.key) else {
        throw Refusal(
          .unrelatedKeyIdInToken, "this connection began with key \(first.keyID); open another for \(token.key.keyID)")
      }
    }
    guard ledger.admits(token.digest, scope: scope(of: token.key, id), now: clock.now, rules: rules) else {
      throw Refusal(.tooManyProviderTokenUpdates, "a new provider token for this key came too soon after the last")
    }
    try checkAge(token)
    accept(token, authorization, on: id)
    return token.key
  }

  /// The first valid token opens the connection to more streams.
  private mutating func accept(_ token: VerifiedToken, _ authorization: String, on id: StandInConnectionID) {
    guard var connection = connections[id] else { return }
    if connection.firstKey == nil {
      connection.firstKey = token.key
      connection.streamLimit = rules.streamsAfterToken
    }
    connection.lastAuthorization = authorization
    connection.lastToken = token
    connections[id] = connection
  }

  private func checkAge(_ token: VerifiedToken) throws(Refusal) {
    let age = clock.now / 1000 - token.issuedAt
    guard age <= rules.providerTokenAgeSeconds else {
      throw Refusal(.expiredProviderToken, "the provider token is \(age) seconds old")
    }
    guard age >= -rules.providerTokenAgeSeconds else {
      throw Refusal(.invalidProviderToken, "iat lies \(-age) seconds in the future")
    }
  }

  private mutating func verify(_ authorization: String, _ text: Substring) throws(Refusal) -> VerifiedToken {
    if let known = verified[authorization] { return known }
    let parsed: ProviderTokenText
    do {
      parsed = try ProviderTokenText(parsing: text)
    } catch {
      throw Refusal(.invalidProviderToken, error.problem)
    }
    guard let key = keys.first(where: { $0.keyID == parsed.keyID }) else {
      throw Refusal(.invalidProviderToken, "there is no key \(parsed.keyID)")
    }
    guard key.teamID == parsed.teamID else {
      throw Refusal(.invalidProviderToken, "key \(key.keyID) is not of team \(parsed.teamID)")
    }
    guard key.verifies(parsed.signedBytes, parsed.signature) else {
      throw Refusal(.invalidProviderToken, "the signature does not fit key \(key.keyID)")
    }
    let token = VerifiedToken(key: key, issuedAt: parsed.issuedAt, digest: digest(authorization))
    statistics.providerTokens += 1
    if verified.count >= StandInLimits.verifiedTokens { verified.removeAll(keepingCapacity: true) }
    verified[authorization] = token
    return token
  }

  private func scope(of key: StandInKey, _ id: StandInConnectionID) -> String {
    switch rules.providerTokenScope {
    case .key: "key \(key.teamID) \(key.keyID)"
    case .team: "team \(key.teamID)"
    case .connection: "connection \(id.rawValue)"
    }
  }

  /// The token after `bearer`, whose case does not matter (RFC 9110 section 11.1).
  private static func bearerToken(_ authorization: String) -> Substring? {
    let scheme = "bearer ".utf8
    let isBearer =
      authorization.utf8.count > scheme.count
      && zip(authorization.utf8, scheme).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 && $0 >= UInt8(ascii: "A")) }
    guard isBearer else { return nil }
    return authorization[authorization.utf8.index(authorization.startIndex, offsetBy: scheme.count)...]
  }
}
