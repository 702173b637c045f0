import Cryptography
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// Client certificates over TLS, shown by curl.
@Suite struct StandInCertificateWireTests {
  private static let voip = ["apns-topic: \(StandInCurl.topic).voip", "apns-push-type: voip"]

  private func push(
    _ peer: StandInCurl, _ certificate: [String], headers: [String] = StandInCurl.good, production: Bool = false
  ) async throws -> (reply: StandInCurl.Reply?, code: Int) {
    let result = try await StandInCurl.curl(
      certificate + peer.arguments(headers: headers, authorization: nil, production: production))
    return (StandInCurl.replies(result.output).first, result.code)
  }

  @Test("the ready line's certificate, as PEM and as .p12, sends to the app and its voip topic") func accepted()
    async throws
  {
    let peer = try await StandInCurl()
    let line = peer.standIn.readyLine
    let pem = ["--cert", line.certFile, "--key", line.certKeyFile]
    for certificate in [pem, ["--cert", line.p12File + ":", "--cert-type", "P12"]] {
      #expect(try await push(peer, certificate).reply?.status == 200)
    }
    #expect(try await push(peer, pem, headers: Self.voip).reply?.status == 200)
    #expect(try await push(peer, pem, headers: ["apns-push-type: alert"]).reply?.reason == "MissingTopic")
    let location = ["apns-topic: \(StandInCurl.topic).location-query", "apns-push-type: location"]
    #expect(try await push(peer, pem, headers: location).reply?.reason == "TopicDisallowed")
    #expect(try await push(peer, pem, production: true).reply?.reason == "BadDeviceToken", "good for both environments")
    #expect(try await push(peer, []).reply?.reason == "MissingProviderToken", "a certificate is not demanded")
    await peer.standIn.stop()
  }

  @Test("BadCertificate when the clock has passed its end; BadCertificateEnvironment; one that is not for pushes")
  func refused() async throws {
    let peer = try await StandInCurl()
    let line = peer.standIn.readyLine
    let authority = try CertificateAuthority(
      certificatePEM: String(decoding: try TestFiles.read(line.caFile), as: UTF8.self),
      keyPEM: String(decoding: try TestFiles.read(peer.folder.file("ca-key.pem")), as: UTF8.self))
    func files(_ name: String, _ extensions: [String]) throws -> [String] {
      let identity = try authority.issueClientCertificate(
        commonName: name, userID: StandInCurl.topic,
        extensions: extensions.map { CertificateExtension(oid: "1.2.840.113635.100.6.3.\($0)", der: DERWriter.null) },
        now: Clock.system.wall())
      let (certificate, key) = (peer.folder.file(name + ".pem"), peer.folder.file(name + ".key"))
      try TestFiles.write(identity.certificatePEM, to: certificate)
      try TestFiles.write(try identity.privateKey.pkcs8PEM(), to: key)
      return ["--cert", certificate, "--key", key]
    }
    let production = try await push(peer, try files("production", ["2"])).reply
    #expect(production?.status == 403)
    #expect(production?.reason == "BadCertificateEnvironment")
    #expect(try await push(peer, try files("sandbox", ["1"])).reply?.status == 200)
    #expect(try await push(peer, try files("nothing", [])).reply?.reason == "BadCertificate")

    _ = try await peer.control("POST", "/clock", #"{"advanceMs":\#(400 * 86_400_000)}"#)
    let old = try await push(peer, ["--cert", line.certFile, "--key", line.certKeyFile]).reply
    #expect(old?.status == 403)
    #expect(old?.reason == "BadCertificate")
    #expect(try await peer.control("GET", "/stats").json?["goaways"]?.int == 3)
    await peer.standIn.stop()
  }

  @Test("a certificate of another authority ends in the handshake") func foreign() async throws {
    let peer = try await StandInCurl()
    let now = Clock.system.wall()
    let foreign = try CertificateAuthority.make(commonName: "Foreign", now: now)
    let identity = try foreign.issueClientCertificate(commonName: "x", userID: StandInCurl.topic, now: now)
    let (certificate, key) = (peer.folder.file("foreign.pem"), peer.folder.file("foreign.key"))
    try TestFiles.write(identity.certificatePEM, to: certificate)
    try TestFiles.write(try identity.privateKey.pkcs8PEM(), to: key)
    let (reply, code) = try await push(peer, ["--cert", certificate, "--key", key])
    #expect(reply == nil)
    // 56: with TLS 1.3 a client hears of the refusal when it reads; 16 and 55: when it writes.
    #expect([35, 55, 56, 16, 92].contains(code), "\(code)")
    #expect(try await peer.control("GET", "/stats").json?["requests"]?.int == 0)
    await peer.standIn.stop()
  }
}
