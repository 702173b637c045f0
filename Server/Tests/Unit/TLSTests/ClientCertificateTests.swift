import Cryptography
import PabalPrimitives
import TLS
import TestSupport
import Testing

@Suite("certificates of clients")
struct ClientCertificateTests {
  private let server: TestAuthority
  private let clients: CertificateAuthority
  private let now = Clock.system.wall()

  init() throws {
    server = try TestAuthority()
    clients = try CertificateAuthority.make(commonName: "For clients", now: now)
  }

  @Test("a server sees the certificate that it asked for", arguments: [PrivateKey.Kind.p256, .rsa2048])
  func shown(kind: PrivateKey.Kind) throws {
    let identity = try clients.issueClientCertificate(commonName: "client", userID: "a.b", key: kind, now: now)
    for authentication in [TLSClientAuthentication.optional(authorities: pem), .required(authorities: pem)] {
      let pair = try pair(identity, authentication)
      try pair.handshake()
      let seen = try #require(pair.server.peerCertificate)
      #expect(seen == identity.leaf.der)
      #expect(try X509Certificate(der: seen).userID == "a.b")
    }
  }

  @Test("who shows none is served where it is optional and refused where it is not")
  func none() throws {
    let optional = try pair(nil, .optional(authorities: pem))
    try optional.handshake()
    #expect(optional.server.peerCertificate == nil)
    let unasked = try pair(try clients.issueClientCertificate(commonName: "client", now: now), .none)
    try unasked.handshake()
    #expect(unasked.server.peerCertificate == nil)
    #expect(
      try refusal(of: nil, .required(authorities: pem)) == [.clientCertificateRefused, .clientCertificateRefused])
  }

  @Test("an expired certificate, one of the future and one of another authority are refused")
  func refused() throws {
    let year = Duration.seconds(365 * 86_400)
    let old = try clients.issueClientCertificate(
      commonName: "old", validFor: .seconds(86_400), now: now.advanced(by: .zero - year))
    let future = try clients.issueClientCertificate(commonName: "future", now: now.advanced(by: year))
    let foreign = try CertificateAuthority.make(commonName: "Foreign", now: now)
      .issueClientCertificate(commonName: "foreign", now: now)
    let optional = TLSClientAuthentication.optional(authorities: pem)
    #expect(try refusal(of: old, optional) == [.clientCertificateRefused, .certificateRefused])
    #expect(try refusal(of: future, optional) == [.clientCertificateRefused, .certificateRefused])
    #expect(try refusal(of: foreign, optional) == [.clientCertificateRefused, .unknownAuthority])
  }

  @Test("an identity is checked when it is made")
  func identities() throws {
    let one = try clients.issueClientCertificate(commonName: "one", now: now)
    let two = try clients.issueClientCertificate(commonName: "two", now: now)
    let key = try one.privateKey.pkcs8DER()
    #expect(throws: TLSError(.keyMismatch, "")) {
      try TLSIdentity(certificates: two.certificatesDER, privateKey: key)
    }
    #expect(throws: TLSError(.badCertificate, "")) { try TLSIdentity(certificates: [], privateKey: key) }
    #expect(throws: TLSError(.badCertificate, "")) {
      try TLSIdentity(certificates: one.certificatesDER + [[1]], privateKey: key)
    }
    #expect(throws: TLSError(.badKey, "")) {
      try TLSIdentity(certificates: one.certificatesDER, privateKey: [1])
    }
  }

  private var pem: [UInt8] { Array(clients.certificatePEM.utf8) }

  private func pair(
    _ identity: CertificateIdentity?, _ authentication: TLSClientAuthentication
  ) throws -> TLSPair {
    let shown = try identity.map {
      try TLSIdentity(certificates: $0.certificatesDER, privateKey: try $0.privateKey.pkcs8DER())
    }
    return try TLSPair(
      client: TLSClientContext(trust: .authorities(pem: server.authorityPEM), identity: shown),
      server: TLSServerContext(
        certificatePEM: server.certificatePEM, keyPEM: server.keyPEM, clientAuthentication: authentication))
  }

  /// What the client and the server met. With TLS 1.3 the client learns it after its own handshake (RFC 8446
  /// section 4.4.2.4), with the first bytes that it reads.
  private func refusal(
    of identity: CertificateIdentity?, _ authentication: TLSClientAuthentication
  ) throws -> [TLSError.Kind] {
    let pair = try pair(identity, authentication)
    var kinds: [TLSError.Kind] = []
    let server = #expect(throws: TLSError.self) { try pair.handshake() }
    let client = #expect(throws: TLSError.self) {
      _ = pair.carry(pair.server, to: pair.client)
      _ = try pair.client.read()
    }
    if let client { kinds.append(client.kind) }
    if let server { kinds.append(server.kind) }
    return kinds
  }
}
