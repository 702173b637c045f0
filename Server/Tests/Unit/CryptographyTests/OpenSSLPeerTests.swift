import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// What we write, read by the openssl command.
@Suite struct OpenSSLPeerTests {
  private let now = Clock.system.wall()

  @Test("openssl opens our .p12 of both ages and finds what is in it", arguments: [true, false])
  func opens(isLegacy: Bool) async throws {
    let topics = CertificateExtension(
      oid: "1.2.840.113635.100.6.3.6", der: DERWriter.sequence([DERWriter.utf8String("com.example.app")]))
    let identity = try CertificateAuthority.make(commonName: "Peer authority", now: now)
      .issueClientCertificate(
        commonName: "Apple Push Services", userID: "com.example.app", extensions: [topics], now: now)
    let folder = try TemporaryFolder()
    let path = folder.file("push.p12")
    let file = try PKCS12.write(
      identity, passphrase: "secret", friendlyName: "push", algorithms: isLegacy ? .legacy : .modern)
    try TestFiles.write(file, to: path)
    let legacy = isLegacy ? ["-legacy"] : []
    let opened = try await openssl(["pkcs12", "-in", path, "-passin", "pass:secret", "-nodes"] + legacy)
    #expect(opened.code == 0, "\(opened.errors)")
    let again = try PEMIdentity.read(certificate: Array(opened.output.utf8))
    #expect(again.certificatesDER == identity.certificatesDER)
    let refused = try await openssl(["pkcs12", "-in", path, "-passin", "pass:wrong", "-nodes"] + legacy)
    #expect(refused.code != 0)
    try TestFiles.write(identity.certificatePEM, to: folder.file("chain.pem"))
    try TestFiles.write(identity.chain.map(\.pem).joined(), to: folder.file("authority.pem"))
    let verified = try await openssl([
      "verify", "-purpose", "sslclient", "-x509_strict", "-CAfile", folder.file("authority.pem"),
      folder.file("chain.pem"),
    ])
    #expect(verified.code == 0, "\(verified.errors)")
    let shown = try await openssl(["x509", "-in", folder.file("chain.pem"), "-noout", "-subject", "-text"])
    #expect(shown.output.contains("com.example.app"))
    #expect(shown.output.contains("1.2.840.113635.100.6.3.6"))
  }

  private func openssl(_ arguments: [String]) async throws -> ChildProcess.Result {
    try await ChildProcess.run("/usr/bin/env", ["openssl"] + arguments)
  }
}
