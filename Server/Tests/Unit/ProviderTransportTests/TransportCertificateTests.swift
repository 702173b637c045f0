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

/// Knows the topic by the certificate of the connection, as APNs does.
private final class TopicPeer: HTTP2ServerHandler {
  private let topics: [[UInt8]: String]
  private let seen: Locked<[(connection: UInt64, topic: String)]>

  init(topics: [[UInt8]: String], seen: Locked<[(connection: UInt64, topic: String)]>) {
    self.topics = topics
    self.seen = seen
  }

  func connectionOpened(_ connection: HTTP2ServerConnection) {}
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {}

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    let topic = request.headers.string("apns-topic") ?? ""
    seen.withLock { $0.append((connection.id, topic)) }
    let isHis = connection.peerCertificate.flatMap { topics[$0] } == topic
    connection.respond(
      stream: request.stream, status: isHis ? 200 : 400, headers: [],
      body: isHis ? [] : Array(#"{"reason":"DeviceTokenNotForTopic"}"#.utf8))
  }
}

/// Certificates belong to connections.
@Suite struct TransportCertificateTests {
  private static let topics = ["com.example.a", "com.example.b"]
  private let now = Clock.system.wall()
  private let server: TestAuthority
  private let authority: CertificateAuthority
  private let identities: [CertificateIdentity]

  init() throws {
    let (server, now) = (try TestAuthority(), now)
    let authority = try CertificateAuthority.make(commonName: "Certificates for pushes", now: now)
    self.server = server
    self.authority = authority
    identities = try Self.topics.map {
      try authority.issueClientCertificate(commonName: "Apple Push Services: \($0)", userID: $0, now: now)
    }
  }

  private func withPeer(
    _ body: (any Loop, UInt16, @Sendable () -> [(connection: UInt64, topic: String)]) async throws -> Void
  ) async throws {
    let loop = try UVLoop()
    let context = try TLSServerContext(
      certificatePEM: server.certificatePEM, keyPEM: server.keyPEM,
      clientAuthentication: .required(authorities: Array(authority.certificatePEM.utf8)))
    let seen = Locked<[(connection: UInt64, topic: String)]>([])
    let topics = Dictionary(uniqueKeysWithValues: zip(identities.map(\.leaf.der), Self.topics))
    let held = LoopConfined<HTTP2Listener?>(nil, to: loop.mark)
    let port: UInt16 = await loop.run { done in
      let listener = HTTP2Listener(loop: loop, tls: context, handler: TopicPeer(topics: topics, seen: seen))
      held.value = listener
      done((try? listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))) ?? 0)
    }
    do {
      try await body(loop, port) { seen.withLock { $0 } }
    } catch {
      Issue.record(error)
    }
    let _: Bool = await loop.run { done in
      held.value?.stop()
      held.value = nil
      done(true)
    }
    loop.stop()
  }

  private func configuration(_ index: Int, port: UInt16) throws -> APNsTransportConfiguration {
    let credential = try credential(index)
    return APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port), tls: try tls(credential), credential: credential)
  }

  private func credential(_ index: Int) throws -> APNsCredential {
    .certificate(try APNsCertificateCredential(identity: identities[index], now: now))
  }

  private func tls(_ credential: APNsCredential) throws -> TLSClientContext {
    try TLSClientContext(trust: .authorities(pem: server.authorityPEM), credential: credential)
  }

  private func push(_ index: Int) throws -> APNsPush {
    let head = try APNsHead(topic: Topic(rawValue: Self.topics[index]), pushType: .alert)
    let payload = try APNsPayload(checking: Array(#"{"aps":{"alert":"x"}}"#.utf8), for: .alert)
    let token = try #require(DeviceToken(bytes: [UInt8](repeating: 7, count: 32)))
    return APNsPush(
      tag: UInt64(index), request: APNsRequest(token: token, head: head, payload: payload),
      apnsID: APNsID(random: .system))
  }

  @Test("OC-06: certificates A and B to one host: two pools, two TLS connections, both pushes get 200")
  func onePoolForEachCertificate() async throws {
    try await withPeer { loop, port, seen in
      let configurations = try [0, 1].map { try configuration($0, port: port) }
      #expect(configurations[0].poolKey != configurations[1].poolKey)
      #expect(configurations[0].poolKey == (try configuration(0, port: port)).poolKey)
      let transports = configurations.map { APNsTransport(configuration: $0, loop: loop) }
      for (index, transport) in transports.enumerated() {
        #expect(await transport.send(try push(index)).status == 200)
      }
      for transport in transports { await transport.shutdown() }
      #expect(seen().map(\.topic) == Self.topics)
      #expect(Set(seen().map(\.connection)).count == 2)
    }
  }

  @Test("A certificate replaced in a running transport: the next push shows the new one, on a new connection")
  func replaced() async throws {
    try await withPeer { loop, port, seen in
      let transport = APNsTransport(configuration: try configuration(0, port: port), loop: loop)
      #expect(await transport.send(try push(0)).status == 200)
      #expect(await transport.send(try push(1)).reason == .apns("DeviceTokenNotForTopic"))
      let next = try credential(1)
      transport.replaceCredential(next, tls: try tls(next))
      #expect(await transport.send(try push(1)).status == 200)
      #expect(Set(seen().map(\.connection)).count == 2)
      await transport.shutdown()
    }
  }
}
