import APNs
import Cryptography
import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS
import TestSupport
import Testing

/// Our engine with a certificate, over real TLS, against a server that demands one.
@Suite("the engine with a certificate") struct CertificateTests {
  private let topic = "com.example.app"
  private let authority: CertificateAuthority
  private let server: TestAuthority
  private let now = Clock.system.wall()

  init() throws {
    authority = try CertificateAuthority.make(commonName: "Certificates for pushes", now: now)
    server = try TestAuthority()
  }

  @Test("pushes with a .p12 carry no provider token; the server sees the certificate", arguments: [true, false])
  func accepted(isLegacy: Bool) async throws {
    let identity = try authority.issueClientCertificate(
      commonName: "Apple Push Services: \(topic)", userID: topic, now: now)
    let file = try PKCS12.write(
      identity, passphrase: "secret", friendlyName: "push", algorithms: isLegacy ? .legacy : .modern)
    let loaded = try APNsCredentialLoader.certificate(p12: file, passphrase: "secret", now: now)
    let (outcomes, seen) = try await send(3, with: loaded.credential)
    #expect(outcomes.map(\.state) == [.accepted, .accepted, .accepted])
    #expect(seen.count == 3)
    for request in seen {
      #expect(request.certificate == identity.leaf.der)
      #expect(request.names.filter { $0 == "authorization" }.isEmpty)
      #expect(request.topic == topic)
    }
  }

  @Test("a refusal of the certificate ends all pushes at once") func refused() async throws {
    let identity = try authority.issueClientCertificate(commonName: "x", userID: topic, now: now)
    let credential = APNsCredential.certificate(try APNsCertificateCredential(identity: identity, now: now))
    let (outcomes, seen) = try await send(3, with: credential, answering: (403, #"{"reason":"BadCertificate"}"#))
    #expect(outcomes.count == 3)
    #expect(outcomes.allSatisfy { $0.reason == .apns("BadCertificate") })
    #expect(Set(outcomes.map(\.state)).isSubset(of: [.rejected, .canceled]))
    #expect((1...3).contains(seen.count))
  }

  @Test("a certificate that the server does not know leaves the pushes unsent") func unknown() async throws {
    let foreign = try CertificateAuthority.make(commonName: "Foreign", now: now)
    let identity = try foreign.issueClientCertificate(commonName: "x", userID: topic, now: now)
    let credential = APNsCredential.certificate(try APNsCertificateCredential(identity: identity, now: now))
    let (outcomes, seen) = try await send(2, with: credential)
    #expect(seen.isEmpty)
    #expect(outcomes.map(\.reason) == [.providerUnreachable, .providerUnreachable])
    #expect(Set(outcomes.map(\.attempts)).isSubset(of: [0]))
  }

  private func send(
    _ count: Int, with credential: APNsCredential, answering answer: (status: Int, body: String) = (200, "")
  ) async throws -> ([APNsOutcome], [CertificatePeer.Request]) {
    let loop = try UVLoop()
    defer { loop.stop() }
    let context = try TLSServerContext(
      certificatePEM: server.certificatePEM, keyPEM: server.keyPEM,
      clientAuthentication: .required(authorities: Array(authority.certificatePEM.utf8)))
    let seen = Locked<[CertificatePeer.Request]>([])
    let bound: (LoopConfined<HTTP2Listener>, UInt16)? = await loop.run { done in
      let peer = CertificatePeer(seen: seen, status: answer.status, body: answer.body)
      let listener = HTTP2Listener(loop: loop, tls: context, handler: peer)
      guard let port = try? listener.listen(on: Endpoint(host: "127.0.0.1", port: 0)) else { return done(nil) }
      done((LoopConfined(listener, to: loop.mark), port))
    }
    let (listener, port) = try #require(bound)
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port),
      tls: try TLSClientContext(trust: .authorities(pem: server.authorityPEM), credential: credential),
      credential: credential)
    configuration.pool = .init(
      backOffFirst: .milliseconds(1), backOffMaximum: .milliseconds(2), dialsMaximum: 3)
    let transport = APNsTransport(configuration: configuration, loop: loop)
    let head = try APNsHead(topic: credential.topic(given: nil), pushType: .alert)
    try credential.check(head, environment: nil)
    let payload = try APNsContent(body: "b").payload()
    let pushes = try (0..<count).map { index in
      let token = try #require(DeviceToken(bytes: [UInt8](repeating: UInt8(index), count: 32)))
      return APNsPush(
        tag: UInt64(index), request: APNsRequest(token: token, head: head, payload: payload),
        apnsID: APNsID(random: .system))
    }
    let outcomes = await transport.send(pushes)
    await transport.shutdown()
    await loop.run { done in
      listener.value.stop()
      done(())
    }
    return (outcomes, seen.withLock { $0 })
  }
}

/// Answers every request alike and writes down what it saw.
final class CertificatePeer: HTTP2ServerHandler {
  struct Request: Sendable {
    let certificate: [UInt8]?
    let names: [String]
    let topic: String?
  }

  private let seen: Locked<[Request]>
  private let status: Int
  private let body: [UInt8]

  init(seen: Locked<[Request]>, status: Int, body: String) {
    self.seen = seen
    self.status = status
    self.body = Array(body.utf8)
  }

  func connectionOpened(_ connection: HTTP2ServerConnection) {}

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    let names = request.headers.fields.map(\.name)
    seen.withLock {
      $0.append(
        Request(
          certificate: connection.peerCertificate, names: names, topic: request.headers.string("apns-topic")))
    }
    connection.respond(stream: request.stream, status: status, headers: [], body: body)
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {}
}
