package import Cryptography
package import PabalModel
package import PabalPrimitives

/// A certificate for APNs with its private key; what it says about topics and environments was read and checked.
package struct APNsCertificateCredential: Sendable {
  /// From this long before the end on, its user is warned.
  package static let expiryNotice = Duration.seconds(30 * 86_400)

  package let identity: CertificateIdentity
  /// SHA-256 of the certificate in hexadecimal; holds no secret.
  package let fingerprint: String
  /// The default first.
  package let topics: [Topic]
  /// Empty when the certificate does not say, as MDM certificates do not.
  package let environments: Set<PushEnvironment>
  package let notAfter: WallTime

  /// - Throws: `certificate_expired`, `certificate_not_yet_valid`, `certificate_not_for_push`; what cannot be read
  ///   keeps the code of `Cryptography`.
  package init(identity: CertificateIdentity, now: WallTime) throws(APNsCredentialError) {
    do {
      fingerprint = try identity.leaf.fingerprint
      notAfter = try identity.leaf.notAfter
      try Self.checkTime(from: try identity.leaf.notBefore, to: notAfter, now: now)
    } catch let error as APNsCredentialError {
      throw error
    } catch let error as CryptographyError {
      throw APNsCredentialError(code: error.code, message: error.message, cause: error.cause)
    } catch {
      preconditionFailure("reading a certificate throws these two errors only")
    }
    let facts = APNsCertificateFacts(identity.leaf)
    guard !facts.topics.isEmpty else {
      throw APNsCredentialError(
        code: "certificate_not_for_push",
        message: "The certificate names no app, so it is none for APNs. Make one at developer.apple.com › Certificates "
          + "of the kind Apple Push Notification service SSL.")
    }
    self.identity = identity
    topics = facts.topics
    environments = facts.environments
  }

  /// A sentence when the certificate ends soon.
  package func expiryWarning(now: WallTime) -> String? {
    guard now.advanced(by: Self.expiryNotice) > notAfter else { return nil }
    return "The certificate ends on \(notAfter.rfc3339). Renew it before; TLS fails afterwards."
  }

  /// Whether the certificate covers these headers there; `nil`: the environment is not known.
  ///
  /// - Throws: `push_type_needs_key`, `topic_not_covered`, `environment_not_covered`.
  package func check(_ head: APNsHead, environment: PushEnvironment?) throws(APNsCredentialError) {
    guard !head.pushType.needsSigningKey else {
      throw APNsCredentialError(
        code: "push_type_needs_key",
        message: "A push of type \(head.pushType.rawValue) is not sent with a certificate. Give a signing key (.p8).")
    }
    guard topics.contains(head.topic) else {
      throw APNsCredentialError(
        code: "topic_not_covered",
        message:
          "The certificate is not for the topic \(head.topic.rawValue) of \(head.pushType.rawValue) pushes; it is "
          + "for \(APNsCredential.list(topics)). Give one of these, another certificate, or a signing key (.p8).")
    }
    guard let environment, !environments.isEmpty, !environments.contains(environment) else { return }
    throw APNsCredentialError(
      code: "environment_not_covered",
      message: "The certificate is for \(environments.map(\.rawValue).sorted().joined(separator: " and ")), not for "
        + "\(environment.rawValue). Give the other environment or another certificate.")
  }

  private static func checkTime(
    from start: WallTime, to end: WallTime, now: WallTime
  ) throws(APNsCredentialError) {
    guard now <= end else {
      throw APNsCredentialError(
        code: "certificate_expired",
        message: "The certificate ended on \(end.rfc3339). Renew it at developer.apple.com › Certificates.")
    }
    guard now >= start else {
      throw APNsCredentialError(
        code: "certificate_not_yet_valid",
        message: "The certificate starts on \(start.rfc3339). Check this machine's clock.")
    }
  }
}
