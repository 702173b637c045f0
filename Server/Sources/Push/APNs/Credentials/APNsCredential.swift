package import Cryptography
package import PabalModel

/// What proves to APNs who sends: a signing key, whose tokens travel in a header, or a certificate shown in TLS.
package enum APNsCredential: Sendable {
  /// For all topics of a team (Apple, "Establishing a token-based connection to APNs").
  case token(APNsTokenCredential)
  /// For the topics that the certificate names (Apple, "Establishing a certificate-based connection to APNs").
  case certificate(APNsCertificateCredential)

  /// A signing key with its ids.
  ///
  /// - Throws: `credential_invalid`.
  package init(teamID: String, keyID: String, signingKey: P256SigningKey) throws(APNsCredentialError) {
    self = .token(try APNsTokenCredential(teamID: teamID, keyID: keyID, signingKey: signingKey))
  }

  /// Equal for two credentials that may share a connection; holds no secret.
  package var fingerprint: String {
    switch self {
    case .token(let token): "token:\(token.teamID)/\(token.keyID)"
    case .certificate(let certificate): "certificate:\(certificate.fingerprint)"
    }
  }

  /// What it may be used for, the default first; `nil`: any topic of the team.
  package var topics: [Topic]? {
    switch self {
    case .token: nil
    case .certificate(let certificate): certificate.topics
    }
  }

  /// The topic to send to when the caller gave `given`.
  ///
  /// - Throws: `topic_missing`: only a certificate with a single topic has a default.
  package func topic(given: Topic?) throws(APNsCredentialError) -> Topic {
    if let given { return given }
    guard let topics else {
      throw APNsCredentialError(
        code: "topic_missing",
        message: "The topic is missing. Give the app's bundle id; a signing key is for all apps of the team.")
    }
    guard topics.count == 1, let only = topics.first else {
      throw APNsCredentialError(
        code: "topic_missing",
        message: "The topic is missing, and the certificate is for several: \(Self.list(topics)). Give one.")
    }
    return only
  }

  /// Whether APNs would take pushes with these headers from the holder of this credential.
  ///
  /// - Throws: `push_type_needs_key`, `topic_not_covered`, `environment_not_covered`.
  package func check(_ head: APNsHead, environment: PushEnvironment?) throws(APNsCredentialError) {
    guard case .certificate(let certificate) = self else { return }
    try certificate.check(head, environment: environment)
  }

  /// Bounded, for messages.
  static func list(_ topics: [Topic]) -> String {
    let shown = topics.prefix(8).map(\.rawValue).joined(separator: ", ")
    return topics.count > 8 ? "\(shown) and \(topics.count - 8) more" : shown
  }
}
