import EventLoop
import HTTP2Connections
import PabalPrimitives
import TLS
import TestSupport
import Testing

private let target = Endpoint(host: "apns.example", port: 443)

/// A client behind a proxy on a scripted network.
private final class ProxyStage {
  let loop = ScriptedLoop(seed: 1)
  let server = ServerEar()
  let client = ClientEar()
  let listener: HTTP2Listener
  let proxy: TunnelProxy
  let connection: HTTP2ClientConnection

  init(_ manner: TunnelProxy.Manner, credentials: ProxyEndpoint.Credentials? = nil) throws {
    listener = HTTP2Listener(loop: loop, tls: nil, handler: server)
    _ = try listener.listen(on: target)
    proxy = TunnelProxy(loop: loop, manner: manner)
    let port = try proxy.listen()
    connection = HTTP2ClientConnection(
      loop: loop,
      configuration: .init(
        endpoint: target,
        proxy: ProxyEndpoint(endpoint: Endpoint(host: "127.0.0.1", port: port), credentials: credentials), tls: nil),
      events: client.hear)
  }

  func open() -> ClientEar.Note? {
    connection.start()
    loop.run(for: .seconds(15))
    return client.notes.last
  }

  func end() {
    loop.end()
    server.end()
    client.onNote = { _ in }
  }
}

@Suite("Through an HTTP proxy")
struct ProxyTests {
  @Test("CONNECT names host and port; the tunnel carries requests, and what the kernel took is told of them alone")
  func tunnel() throws {
    let stage = try ProxyStage(.tunnels())
    defer { stage.end() }
    #expect(stage.open() == .ready(1000))
    let connect = "CONNECT apns.example:443 HTTP/1.1\r\nHost: apns.example:443\r\n\r\n"
    #expect(stage.proxy.requests == [connect])
    stage.connection.submit(1)
    stage.connection.flush()
    stage.loop.runUntilIdle()
    #expect(stage.client.notes.dropFirst() == [.written([1]), .response(1, 200)])
  }

  @Test("Behind a proxy, too, a request is unsent until the kernel has a byte of it")
  func unsentBehindAProxy() throws {
    let stage = try ProxyStage(.tunnels())
    defer { stage.end() }
    _ = stage.open()
    let connection = stage.loop.connections[0]
    connection.takeAtMost = connection.arrived(.toServer)
    stage.connection.submit(1)
    stage.connection.flush()
    #expect(stage.client.notes == [.ready(1000)])
    connection.reset()
    stage.loop.runUntilIdle()
    #expect(stage.client.end == .closed(.peerClosed, lost: [], unsent: [1]))
  }

  @Test("Basic credentials are sent, and a proxy that wants them refuses who has none or wrong ones")
  func credentials() throws {
    let right = ProxyEndpoint.Credentials(user: "ada", password: "p:w@1")
    let stage = try ProxyStage(.tunnels(credentials: "ada:p:w@1"), credentials: right)
    #expect(stage.open() == .ready(1000))
    #expect(stage.proxy.requests[0].contains("\r\nProxy-Authorization: Basic YWRhOnA6d0Ax\r\n"))
    stage.end()
    for credentials in [nil, ProxyEndpoint.Credentials(user: "ada", password: "no")] {
      let stage = try ProxyStage(.tunnels(credentials: "ada:p:w@1"), credentials: credentials)
      #expect(stage.open() == .closed(.proxyRefused(status: 407), lost: [], unsent: []))
      stage.end()
    }
  }

  @Test(
    "A proxy that says no, or is none: a clear error at once",
    arguments: [
      (
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nno\n", HTTP2ConnectionError.Kind.proxyRefused(status: 502)
      ),
      ("HTTP/1.0 403 Forbidden\r\n\r\n", .proxyRefused(status: 403)),
      ("HTTP/1.1 302 Found\nLocation: /login\n\n", .proxyRefused(status: 302)),
      ("SSH-2.0-OpenSSH_9.6\r\n", .proxyNotSpoken),
      ("HTTP/1.1 abc\r\n\r\n", .proxyNotSpoken),
      ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000), .proxyNotSpoken),
    ])
  func refusals(answer: String, kind: HTTP2ConnectionError.Kind) throws {
    let stage = try ProxyStage(.says(answer))
    defer { stage.end() }
    #expect(stage.open() == .closed(kind, lost: [], unsent: []))
  }

  @Test("A proxy that hangs up is named; one that is silent ends at the deadline of the dial")
  func silence() throws {
    let hangsUp = try ProxyStage(.hangsUp)
    #expect(hangsUp.open() == .closed(.proxyNotSpoken, lost: [], unsent: []))
    hangsUp.end()
    let silent = try ProxyStage(.silent)
    #expect(silent.open() == .closed(.dialTimedOut, lost: [], unsent: []))
    silent.end()
  }

  @Test("An interim answer before the 200 is passed over")
  func interim() throws {
    let stage = try ProxyStage(.says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\n\r\n"))
    defer { stage.end() }
    #expect(stage.open() == .closed(.proxyRefused(status: 503), lost: [], unsent: []))
  }

  @Test(
    "The text of a proxy: what is understood",
    arguments: [
      ("http://proxy.example:3128", "proxy.example:3128", nil),
      ("proxy.example", "proxy.example:8080", nil),
      (
        "http://ada:p%3Aw%401@[2001:db8::1]:8080/", "[2001:db8::1]:8080",
        ProxyEndpoint.Credentials(user: "ada", password: "p:w@1")
      ),
      ("http://ada@10.0.0.1:80", "10.0.0.1:80", ProxyEndpoint.Credentials(user: "ada", password: "")),
    ])
  func texts(text: String, endpoint: String, credentials: ProxyEndpoint.Credentials?) throws {
    let proxy = try ProxyEndpoint(parsing: text)
    #expect(proxy.endpoint.description == endpoint)
    #expect(proxy.credentials == credentials)
    #expect(!"\(proxy)".contains("ada"))
  }

  @Test(
    "The text of a proxy: what is refused",
    arguments: [
      "https://proxy.example:3128", "http://", "http://proxy.example:0", "http://proxy.example:99999", "http://a b:1",
      "http://us%zzer:x@proxy.example", "http://:x@proxy.example", "socks5://10.0.0.1:1080", "http://h:80/path",
    ])
  func badTexts(text: String) {
    #expect(throws: ProxyTextError.self) { try ProxyEndpoint(parsing: text) }
  }

  @Test("TLS runs inside the tunnel and verifies the provider, not the proxy")
  func tlsInside() async throws {
    let authority = try TestAuthority()
    let (clientTLS, serverTLS) = (try authority.clientContext(), try authority.serverContext())
    let loop = try UVLoop()
    let notes: [ClientEar.Note] = await loop.run { done in
      let listener = HTTP2Listener(loop: loop, tls: serverTLS, handler: ServerEar())
      let proxy = TunnelProxy(loop: loop, manner: .tunnels(credentials: "ada:secret"))
      guard let port = try? listener.listen(on: Endpoint(host: "127.0.0.1", port: 0)), let way = try? proxy.listen()
      else { return done([]) }
      let ear = ClientEar()
      let connection = HTTP2ClientConnection(
        loop: loop,
        configuration: .init(
          endpoint: .init(host: "127.0.0.1", port: port),
          proxy: ProxyEndpoint(
            endpoint: .init(host: "127.0.0.1", port: way), credentials: .init(user: "ada", password: "secret")),
          serverName: "localhost", tls: clientTLS),
        events: ear.hear)
      ear.onNote = { note in
        if case .ready = note { connection.submit(1) }
        if case .response = note { connection.close() }
        if case .closed = note {
          listener.stop()
          proxy.stop()
          done(ear.notes)
          // What it holds holds it.
          ear.onNote = { _ in }
        }
      }
      connection.start()
    }
    loop.stop()
    #expect(notes == [.ready(1000), .written([1]), .response(1, 200), .closed(.drained, lost: [], unsent: [])])
  }
}
