import PabalPrimitives
import TLS
import TestSupport
import Testing

@Suite("TLS sessions in memory")
struct TLSSessionTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  @Test("handshake with ALPN, bytes both ways, close_notify", arguments: ["localhost", "127.0.0.1", "::1"])
  func exchange(name: String) throws {
    let pair = try TLSPair(
      client: authority.clientContext(), server: authority.serverContext(alpn: ["h2", "http/1.1"]), serverName: name)
    try pair.handshake()
    #expect(pair.client.negotiatedProtocol == "h2")
    #expect(pair.server.negotiatedProtocol == "h2")
    let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try pair.send(long, from: pair.client, to: pair.server) == long)
    #expect(try pair.send([1, 2, 3], from: pair.server, to: pair.client) == [1, 2, 3])
    pair.server.close()
    pair.server.takeOutput { pair.client.feed($0) }
    #expect(try pair.client.read() == nil)
    #expect(pair.client.peerHasClosed)
  }

  @Test("records: where each begins in the ciphertext")
  func records() throws {
    let pair = try TLSPair(client: authority.clientContext(), server: authority.serverContext())
    try pair.handshake()
    var records: [(UInt64, Int)] = []
    let bytes = [UInt8](repeating: 7, count: 40_000)
    try bytes.withUnsafeBytes { try pair.client.write($0) { records.append(($0, $1)) } }
    #expect(records.map(\.1) == [16_384, 16_384, 7_232])
    var output: [UInt8] = []
    pair.client.takeOutput { output.append(contentsOf: $0) }
    // Each offset points at a record header of application data (RFC 8446 §5.1).
    for record in records {
      let start = Int(record.0 - records[0].0)
      #expect(output[start] == 23)
      #expect(output[start + 1] == 3)
    }
    let length = Int(output[3]) << 8 | Int(output[4])
    #expect(Int(records[1].0 - records[0].0) == length + 5)
  }

  @Test("a certificate for another name is refused")
  func wrongHost() throws {
    for name in ["api.push.apple.com", "127.0.0.2"] {
      let pair = try TLSPair(
        client: authority.clientContext(), server: authority.serverContext(), serverName: name)
      #expect(throws: TLSError(.wrongHost, "")) { try pair.handshake() }
    }
  }

  @Test("a certificate of an unknown authority is refused")
  func unknownAuthority() throws {
    let pair = try TLSPair(client: TestAuthority().clientContext(), server: authority.serverContext())
    #expect(throws: TLSError(.unknownAuthority, "")) { try pair.handshake() }
    let system = try TLSPair(client: TLSClientContext(), server: authority.serverContext())
    #expect(throws: TLSError(.unknownAuthority, "")) { try system.handshake() }
  }

  @Test("OC-05 a server that picks http/1.1 is refused as not negotiating h2")
  func alpn() throws {
    let stubborn = try TLSPair(
      client: authority.clientContext(),
      server: authority.serverContext(alpn: ["http/1.1"], withoutAgreement: .answerAnyway))
    #expect(throws: TLSError(.alpnMismatch, "")) { try stubborn.handshake() }
    let strict = try TLSPair(client: authority.clientContext(), server: authority.serverContext(alpn: ["http/1.1"]))
    #expect(throws: TLSError(.alpnMismatch, "")) { try strict.handshake() }
  }

  @Test("OC-05 a client without ALPN is refused by our server")
  func clientWithoutALPN() throws {
    let pair = try TLSPair(client: authority.clientContext(alpn: ["http/1.1"]), server: authority.serverContext())
    #expect(throws: TLSError(.alpnMismatch, "")) { try pair.handshake() }
  }

  @Test("bytes that are not TLS")
  func notTLS() throws {
    let client = try TLSSession(client: authority.clientContext(), serverName: "localhost")
    #expect(try client.handshake() == false)
    Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { client.feed($0) }
    #expect(throws: TLSError(.notTLS, "")) { try client.handshake() }
    let server = try TLSSession(server: authority.serverContext(), peer: "test")
    Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8).withUnsafeBytes { server.feed($0) }
    #expect(throws: TLSError(.notTLS, "")) { try server.handshake() }
  }

  @Test("unreadable PEM and mismatched keys are told apart")
  func badInput() throws {
    #expect(throws: TLSError(.badCertificate, "")) {
      try TLSClientContext(trust: .authorities(pem: Array("not a certificate".utf8)))
    }
    #expect(throws: TLSError(.badCertificate, "")) {
      try TLSServerContext(certificatePEM: [], keyPEM: authority.keyPEM)
    }
    #expect(throws: TLSError(.badKey, "")) {
      try TLSServerContext(certificatePEM: authority.certificatePEM, keyPEM: authority.certificatePEM)
    }
    #expect(throws: TLSError(.keyMismatch, "")) {
      try TLSServerContext(certificatePEM: authority.certificatePEM, keyPEM: TestAuthority().keyPEM)
    }
  }
}
