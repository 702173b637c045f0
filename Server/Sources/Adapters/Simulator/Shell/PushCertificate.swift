import Cryptography
import PabalPrimitives

/// What Apple writes into a certificate for pushes, written and read by the stand-in itself: the client has a reader of
/// its own.
enum PushCertificate {
  /// Below it: 1 marks the sandbox, 2 production, 4 lists topics for VoIP, 6 all topics.
  private static let base = "1.2.840.113635.100.6.3."

  /// The kinds of topics that one certificate carries, by their suffix.
  private static let kinds = [("", "app"), (".voip", "voip"), (".complication", "complication")]

  /// A certificate of the authority for both environments, an app and the topics that go with it.
  static func issue(
    by authority: CertificateAuthority, topic: String, now: WallTime
  ) throws(CryptographyError) -> CertificateIdentity {
    let list = kinds.flatMap { suffix, kind in
      [DERWriter.utf8String(topic + suffix), DERWriter.sequence([DERWriter.utf8String(kind)])]
    }
    return try authority.issueClientCertificate(
      commonName: "Pabal stand-in push services: \(topic)", userID: topic,
      extensions: [
        CertificateExtension(oid: base + "1", der: DERWriter.null),
        CertificateExtension(oid: base + "2", der: DERWriter.null),
        CertificateExtension(oid: base + "6", der: DERWriter.sequence(list)),
      ], now: now)
  }

  /// What a client's certificate says. One that says nothing of pushes, or cannot be read, lists no topic.
  static func read(_ der: [UInt8]) -> StandInCertificate {
    do {
      let certificate = try X509Certificate(der: der)
      var topics = Set((topics(certificate, "6") + topics(certificate, "4")).filter { !$0.isEmpty })
      // MDM certificates carry their topic as the subject's UID alone.
      if topics.isEmpty, let userID = certificate.userID { topics = [userID] }
      var environments: Set<StandInEnvironment> = []
      if certificate.extensionValue(oid: base + "1") != nil { environments.insert(.sandbox) }
      if certificate.extensionValue(oid: base + "2") != nil { environments.insert(.production) }
      // Nor do they name an environment: devices are managed in production alone.
      if environments.isEmpty, topics.contains(where: { $0.hasPrefix(StandInPushType.mdmTopicPrefix) }) {
        environments = [.production]
      }
      return StandInCertificate(
        topics: topics, environments: environments, notBefore: try certificate.notBefore.milliseconds,
        notAfter: try certificate.notAfter.milliseconds + 999)
    } catch {
      return StandInCertificate(topics: [], environments: [], notBefore: 0, notAfter: 0)
    }
  }

  private static func topics(_ certificate: X509Certificate, _ list: String) -> [String] {
    guard let value = certificate.extensionValue(oid: base + list), let outer = DERReader(value).all(),
      outer.count == 1, let first = outer.first
    else { return [] }
    return first.text.map { [$0] } ?? first.children?.compactMap(\.text) ?? []
  }
}
