import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives
import TLS
import TestSupport
import Testing

private let loopback = Endpoint(host: "127.0.0.1", port: 0)

@Suite("HTTP/2 over real TLS on loopback")
struct LoopbackTests {
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// What a client heard of a server, to the end.
  private func talk(
    client: TLSClientContext, server: TLSServerContext, serverName: String = "localhost",
    handler: @escaping @Sendable () -> ServerEar = { ServerEar() },
    script: @escaping @Sendable (HTTP2ClientConnection, ClientEar.Note) -> Void
  ) async throws -> [ClientEar.Note] {
    let loop = try UVLoop()
    let notes: [ClientEar.Note] = await loop.run { done in
      let listener = HTTP2Listener(loop: loop, tls: server, handler: handler())
      guard let port = try? listener.listen(on: loopback) else { return done([]) }
      let ear = ClientEar()
      let connection = HTTP2ClientConnection(
        loop: loop,
        configuration: .init(
          endpoint: .init(host: "127.0.0.1", port: port), serverName: serverName, tls: client),
        events: ear.hear)
      ear.onNote = { [unowned ear] note in
        script(connection, note)
        if case .closed = note {
          listener.stop()
          done(ear.notes)
        }
      }
      connection.start()
    }
    loop.stop()
    return notes
  }

  @Test("1000 requests in one batch: all written in order, all answered, drained")
  func batch() async throws {
    let next = Locked<UInt64>(0)
    let notes = try await talk(client: authority.clientContext(), server: authority.serverContext()) { client, _ in
      next.withLock { tag in
        while tag < 1000, client.canSubmit(bodyBytes: 200) {
          client.submit(tag, body: [UInt8](repeating: 0x20, count: 200))
          tag += 1
        }
        if tag == 1000 { client.close() }
      }
    }
    let written = notes.flatMap { note -> [UInt64] in if case .written(let tags) = note { tags } else { [] } }
    let answered = notes.compactMap { note -> UInt64? in if case .response(let tag, 200) = note { tag } else { nil } }
    #expect(written == Array(0..<1000))
    #expect(answered.sorted() == Array(0..<1000))
    #expect(notes.first == .ready(1000))
    #expect(notes.last == .closed(.drained, lost: [], unsent: []))
  }

  @Test("a certificate for another name, or of an unknown authority, ends the dial")
  func certificates() async throws {
    let wrong = try await talk(
      client: authority.clientContext(), server: authority.serverContext(), serverName: "api.push.apple.com"
    ) { _, _ in }
    #expect(wrong == [.closed(.tls(.wrongHost), lost: [], unsent: [])])
    let unknown = try await talk(client: TestAuthority().clientContext(), server: authority.serverContext()) { _, _ in }
    #expect(unknown == [.closed(.tls(.unknownAuthority), lost: [], unsent: [])])
  }

  @Test("OC-05 the client offers h2, so a server that picks http/1.1 without ALPN speaks h2")
  func offersALPN() async throws {
    let server = try authority.serverContext(alpn: ["h2", "http/1.1"])
    let notes = try await talk(client: authority.clientContext(), server: server) { client, note in
      if case .ready = note { client.submit(1) }
      if case .response = note { client.close() }
    }
    #expect(notes.contains(.response(1, 200)))
  }

  @Test("OC-05 a server that answers http/1.1 only: alpn_missing at once", arguments: [true, false])
  func answersHTTP11(answersAnyway: Bool) async throws {
    let server = try authority.serverContext(
      alpn: ["http/1.1"], withoutAgreement: answersAnyway ? .answerAnyway : .refuse)
    let notes = try await talk(client: authority.clientContext(), server: server) { _, _ in }
    #expect(notes == [.closed(.alpnMissing, lost: [], unsent: [])])
  }

  @Test("nobody listens: unreachable")
  func refused() async throws {
    let loop = try UVLoop()
    let context = try authority.clientContext()
    let kind: HTTP2ConnectionError.Kind = await loop.run { done in
      let listener = try? loop.listen(on: loopback) { _ in nil }
      let port = listener?.port ?? 0
      listener?.close()
      loop.schedule(after: .milliseconds(1)) {
        let connection = HTTP2ClientConnection(
          loop: loop, configuration: .init(endpoint: .init(host: "127.0.0.1", port: port), tls: context)
        ) { event in
          if case .closed(let error, _, _) = event { done(error.kind) }
        }
        connection.start()
      }
    }
    loop.stop()
    #expect(kind == .unreachable)
  }

  @Test("the server resets TCP after it has the request: a written one is lost")
  func serverAborts() async throws {
    let notes = try await talk(
      client: authority.clientContext(), server: authority.serverContext(),
      handler: {
        let ear = ServerEar()
        ear.request = { _, connection in connection.abort() }
        return ear
      },
      script: { client, note in if case .ready = note { client.submit(1) } })
    #expect(notes.last == .closed(.peerClosed, lost: [1], unsent: []))
  }
}
