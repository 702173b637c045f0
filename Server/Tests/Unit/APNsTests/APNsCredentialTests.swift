import APNs
import Cryptography
import PabalModel
import PabalPrimitives
import Testing

@Suite struct APNsCredentialTests {
  private let now = WallTime(seconds: 1_800_000_000)
  private let authority: CertificateAuthority
  private let p8: [UInt8]

  init() throws {
    authority = try CertificateAuthority.make(commonName: "CA", now: now)
    p8 = Array(try P256SigningKey.generate().pkcs8PEM().utf8)
  }

  // MARK: Signing keys

  @Test("a key id comes from its file's name, or is given") func keyIDs() throws {
    let named = try APNsCredentialLoader.token(p8: p8, fileName: "AuthKey_KEY1234567.p8", teamID: "TEAM123456")
    #expect(named.credential.fingerprint == "token:TEAM123456/KEY1234567")
    #expect(named.credential.topics == nil)
    #expect(named.warnings.isEmpty)
    let given = try APNsCredentialLoader.token(p8: p8, fileName: "push.p8", keyID: "KEY1234567", teamID: "TEAM123456")
    #expect(given.credential.fingerprint == named.credential.fingerprint)
    expect("key_id_missing") { try APNsCredentialLoader.token(p8: p8, fileName: "push.p8", teamID: "TEAM123456") }
    expect("credential_invalid") { try APNsCredentialLoader.token(p8: p8, keyID: "short", teamID: "TEAM123456") }
    expect("key_not_pem") { try APNsCredentialLoader.token(p8: [], keyID: "KEY1234567", teamID: "TEAM123456") }
  }

  @Test("OC-86 swapped ids are seen when the key is loaded, not at the first push") func swapped() throws {
    let error = expect("ids_swapped") {
      try APNsCredentialLoader.token(
        p8: p8, fileName: "AuthKey_KEY1234567.p8", keyID: "TEAM123456", teamID: "KEY1234567")
    }
    #expect(error?.message.contains("swapped") == true)
    let other = try APNsCredentialLoader.token(
      p8: p8, fileName: "AuthKey_KEY1234567.p8", keyID: "KEY7654321", teamID: "TEAM123456")
    #expect(other.warnings.first?.contains("InvalidProviderToken") == true)
    let same = try APNsCredentialLoader.token(p8: p8, keyID: "TEAM123456", teamID: "TEAM123456")
    #expect(same.warnings.count == 1)
  }

  // MARK: Certificates

  @Test("topics and environments are those of the certificate") func facts() throws {
    let certificate = try credential(extensions: [universal, sandbox, production])
    #expect(
      certificate.topics.map(\.rawValue) == [
        "com.example.app", "com.example.app.voip", "com.example.app.complication",
      ])
    #expect(certificate.environments == [.sandbox, .production])
    #expect(certificate.fingerprint.count == 64)
    let plain = try credential(extensions: [])
    #expect(plain.topics.map(\.rawValue) == ["com.example.app"])
    #expect(plain.environments.isEmpty)
    let voip = try credential(
      userID: nil, extensions: [CertificateExtension(oid: base + "4", der: DERWriter.utf8String("a.b.voip"))])
    #expect(voip.topics.map(\.rawValue) == ["a.b.voip"])
    let damaged = try credential(extensions: [CertificateExtension(oid: base + "6", der: [0x30, 0x05, 0x0C])])
    #expect(damaged.topics.map(\.rawValue) == ["com.example.app"])
    expect("certificate_not_for_push") { try credential(userID: nil, extensions: []) }
  }

  @Test("a certificate counts from its first second to its last") func times() throws {
    let identity = try identity(extensions: [], validFor: .seconds(86_400))
    let start = try identity.leaf.notBefore
    let end = try identity.leaf.notAfter
    #expect(start == now.advanced(by: .seconds(-3600)))
    #expect(end == now.advanced(by: .seconds(86_400)))
    for time in [start, end] { _ = try APNsCertificateCredential(identity: identity, now: time) }
    let early = expect("certificate_not_yet_valid") {
      try APNsCertificateCredential(identity: identity, now: start.advanced(by: .seconds(-1)))
    }
    #expect(early?.message.contains("clock") == true)
    let late = expect("certificate_expired") {
      try APNsCertificateCredential(identity: identity, now: end.advanced(by: .seconds(1)))
    }
    #expect(late?.message.contains(end.rfc3339) == true)
    let file = try PKCS12.write(identity, passphrase: "s", friendlyName: "p")
    let soon = try APNsCredentialLoader.certificate(p12: file, passphrase: "s", now: now)
    #expect(soon.warnings.first?.contains("ends on") == true)
    expect("passphrase_wrong") { try APNsCredentialLoader.certificate(p12: file, passphrase: "x", now: now) }
    let key = Array(try identity.privateKey.pkcs8PEM().utf8)
    let pem = try APNsCredentialLoader.certificate(
      pem: Array(identity.certificatePEM.utf8), key: key, passphrase: nil, now: now)
    #expect(pem.credential.fingerprint == soon.credential.fingerprint)
  }

  @Test("OC-31 only a certificate with one topic has a default topic") func defaultTopic() throws {
    let single = APNsCredential.certificate(try credential(extensions: []))
    #expect(try single.topic(given: nil).rawValue == "com.example.app")
    let several = APNsCredential.certificate(try credential(extensions: [universal]))
    let error = expect("topic_missing") { try several.topic(given: nil) }
    #expect(error?.message.contains("com.example.app.voip") == true)
    let token = try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate())
    expect("topic_missing") { try token.topic(given: nil) }
    let given = Topic(rawValue: "x.y")
    #expect(try token.topic(given: given) == given)
  }

  @Test("what the certificate does not cover is refused before it is sent") func coverage() throws {
    let credential = APNsCredential.certificate(try credential(extensions: [universal, sandbox]))
    let bundle = Topic(rawValue: "com.example.app")
    try credential.check(try APNsHead(topic: bundle, pushType: .alert), environment: .sandbox)
    try credential.check(try APNsHead(topic: bundle, pushType: .voip), environment: nil)
    for type in [APNsPushType.location, .fileprovider] {
      expect("push_type_needs_key") {
        try credential.check(try APNsHead(topic: bundle, pushType: type), environment: .sandbox)
      }
    }
    let activity = expect("topic_not_covered") {
      try credential.check(try APNsHead(topic: bundle, pushType: .liveactivity), environment: .sandbox)
    }
    #expect(activity?.message.contains("com.example.app.push-type.liveactivity") == true)
    expect("topic_not_covered") {
      try credential.check(try APNsHead(topic: Topic(rawValue: "x.y"), pushType: .alert), environment: .sandbox)
    }
    let wrong = expect("environment_not_covered") {
      try credential.check(try APNsHead(topic: bundle, pushType: .alert), environment: .production)
    }
    #expect(wrong?.message.contains("is for sandbox, not for production") == true)
    let token = try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate())
    try token.check(try APNsHead(topic: bundle, pushType: .location), environment: .production)
  }

  // MARK: Material

  private let base = "1.2.840.113635.100.6.3."
  private var sandbox: CertificateExtension { CertificateExtension(oid: base + "1", der: DERWriter.null) }
  private var production: CertificateExtension { CertificateExtension(oid: base + "2", der: DERWriter.null) }
  private var universal: CertificateExtension {
    let topics = [
      ("com.example.app", "app"), ("com.example.app.voip", "voip"), ("com.example.app.complication", "complication"),
    ]
    let elements = topics.flatMap { topic, kind in
      [DERWriter.utf8String(topic), DERWriter.sequence([DERWriter.utf8String(kind)])]
    }
    return CertificateExtension(oid: base + "6", der: DERWriter.sequence(elements))
  }

  private func identity(
    userID: String? = "com.example.app", extensions: [CertificateExtension], validFor: Duration = .seconds(395 * 86_400)
  ) throws -> CertificateIdentity {
    try authority.issueClientCertificate(
      commonName: "Apple Push Services", userID: userID, extensions: extensions, validFor: validFor, now: now)
  }

  private func credential(
    userID: String? = "com.example.app", extensions: [CertificateExtension]
  ) throws -> APNsCertificateCredential {
    try APNsCertificateCredential(identity: identity(userID: userID, extensions: extensions), now: now)
  }

  @discardableResult
  private func expect(
    _ code: String, at location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
  ) -> APNsCredentialError? {
    let error = #expect(throws: APNsCredentialError.self, sourceLocation: location) { _ = try body() }
    #expect(error?.code == code, sourceLocation: location)
    return error
  }
}
