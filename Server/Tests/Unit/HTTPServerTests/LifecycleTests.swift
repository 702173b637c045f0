import HTTPServer
import PabalPrimitives
import Testing

@Suite struct LifecycleTests {
  @Test func aTakenPortIsSaidSo() async throws {
    try await TestServer.run { server in
      let second = WebServer(
        configuration: WebServerConfiguration(port: server.port, ticker: .manual), router: Router([]))
      do throws(WebServerError) {
        _ = try second.start()
        Issue.record("two servers on one port")
        await second.stop(grace: .zero)
      } catch {
        #expect(error.kind == .addressInUse)
        #expect(error.message.contains("\(server.port)"))
      }
    }
  }

  @Test func aHostNameIsRefused() {
    let server = WebServer(configuration: WebServerConfiguration(host: "localhost"), router: Router([]))
    #expect(throws: WebServerError.self) { try server.start() }
  }

  @Test("draining refuses new connections, serves open ones and tells them to close")
  func drain() async throws {
    try await TestServer.run { server in
      let client = try RawClient(port: server.port)
      defer { client.close() }
      client.send("GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(await !client.receive(until: "}").contains("Connection: close"))
      server.server.drain()
      #expect(server.server.isDraining)
      client.send("GET /echo/2 HTTP/1.1\r\nHost: h\r\n\r\n")
      let last = await client.receiveAll()
      #expect(last.contains("Connection: close"))
      #expect(last.contains(#""id":"2""#))
    }
  }

  /// Stops a server while its one handler waits for a call that has come.
  ///
  /// - Parameter isFreed: the handler may end at once, not only when the client has its answer.
  /// - Returns: what the client got.
  private func answerAtStop(
    grace: Duration, isFreed: Bool, router: (Route) -> Router = { Router([$0]) }
  ) async throws -> String {
    let entered = Locked(false)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let route = Route(.get, "/slow", RouteOperation("slow", "Slow")) { _ in
      entered.withLock { $0 = true }
      for await _ in gate {}
      return .text(200, "done")
    }
    let server = WebServer(configuration: WebServerConfiguration(ticker: .manual), router: router(route))
    let client = try RawClient(port: try server.start())
    defer { client.close() }
    client.send("GET /slow?userId=u HTTP/1.1\r\nHost: h\r\n\r\n")
    while !entered.withLock({ $0 }) { await Task.yield() }
    async let stopped: Void = server.stop(grace: grace)
    while !server.isDraining { await Task.yield() }
    if isFreed { open.finish() }
    let answer = await client.receiveAll()
    open.finish()
    await stopped
    return answer
  }

  @Test("stop waits for the handler at work and its answer arrives") func stopWaits() async throws {
    #expect(try await answerAtStop(grace: .seconds(5), isFreed: true).hasSuffix("done"))
  }

  @Test("a refusal at the stop knows the path without its query") func stopNamesThePath() async throws {
    let answer = try await answerAtStop(grace: .zero, isFreed: false) { route in
      Router([route]) { error, path, _ in .text(error.status, "path=\(path);") }
    }
    #expect(answer.contains("path=/slow;"))
  }

  @Test("stop answers 503 for a handler that does not come to its end, and still awaits it")
  func stopGivesUp() async throws {
    let answer = try await answerAtStop(grace: .zero, isFreed: false)
    #expect(answer.hasPrefix("HTTP/1.1 503 "))
    #expect(answer.contains("draining"))
  }

  @Test func theEverySecondTickerStops() async throws {
    let server = WebServer(configuration: WebServerConfiguration(), router: Router(TestServer.echo))
    let port = try server.start()
    let client = try RawClient(port: port)
    client.send("GET /echo/1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(await client.receiveAll().hasPrefix("HTTP/1.1 200 "))
    client.close()
    await server.stop()
    #expect(server.openConnections == 0)
  }

  @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
    try await TestServer.run { server in
      let one = "GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"
      let answer = try await server.exchange(
        one + "POST /echo/2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx" + one)
      let ids = answer.split(separator: #""id":""#).dropFirst().map { $0.first }
      #expect(ids == ["1", "2", "1"])
    }
  }

  @Test func headAnswersWithoutABody() async throws {
    try await TestServer.run { server in
      let answer = try await server.exchange("HEAD /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      #expect(answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("a header that would split the reply turns into a 500")
  func responseSplitting() async throws {
    let route = Route(.get, "/split", RouteOperation("split", "Split")) { _ in
      HTTPResponse(status: 200, headers: [HTTPField("X", "a\r\nSet-Cookie: b")], body: .bytes([]))
    }
    try await TestServer.run(routes: [route]) { server in
      let answer = try await server.exchange("GET /split HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 500 "))
      #expect(!answer.contains("Set-Cookie"))
    }
  }

  @Test("a literal segment wins over a name, a prefix over a bare one")
  func routing() async throws {
    func route(_ path: String) -> Route {
      Route(.get, path, RouteOperation(path, path)) {
        .text(200, "\(path) \($0.parameters.sorted { $0.key < $1.key })")
      }
    }
    let router = Router([route("/v1/devices/{id}"), route("/v1/devices/install:{install}"), route("/v1/devices/all")])
    func answer(_ path: String) async throws -> String {
      let response = await router.respond(to: try HTTPRequest(.get, path))
      return String(decoding: response.bytes ?? [], as: UTF8.self)
    }
    #expect(try await answer("/v1/devices/all").hasPrefix("/v1/devices/all "))
    #expect(try await answer("/v1/devices/install:x").contains(#"(key: "install", value: "x")"#))
    #expect(try await answer("/v1/devices/dev_1").contains(#"(key: "id", value: "dev_1")"#))
    #expect(try await answer("/v1/devices").contains("route_not_found"))
    let open = Router([route("/v1/files/{path*}"), route("/v1/files/index")])
    func openAnswer(_ path: String) async throws -> String {
      let response = await open.respond(to: try HTTPRequest(.get, path))
      return String(decoding: response.bytes ?? [], as: UTF8.self)
    }
    #expect(try await openAnswer("/v1/files/a/b").contains(#"(key: "path", value: "a/b")"#))
    #expect(try await openAnswer("/v1/files/index").hasPrefix("/v1/files/index "))
    #expect(try await openAnswer("/v1/files").contains("route_not_found"))
  }
}
