import HTTPServer
import PabalPrimitives
import Testing

/// Time is moved by the tests; only the kernel's delivery of bytes is real.
@Suite struct DeadlineTests {
  /// Waits until the server's own thread has seen what the client did.
  private func settle(_ server: TestServer, until condition: (WebServer) -> Bool) async {
    while !condition(server.server) { await Task.yield() }
  }

  @Test("a client that drips its headers is cut ten seconds after its request line")
  func drippingHead() async throws {
    try await TestServer.run { server in
      let client = try RawClient(port: server.port)
      defer { client.close() }
      client.send("GET /echo/1 HTTP/1.1\r\n")
      await settle(server) { $0.openRequests == 1 }
      for _ in 0..<9 {
        server.clock.advance(by: .seconds(1))
        client.send("X: y\r\n")
        server.server.tick()
      }
      server.clock.advance(by: .seconds(1))
      server.server.tick()
      #expect(await client.receiveAll().isEmpty)
    }
  }

  @Test("an idle connection is closed after a minute; one that was just used is not")
  func idle() async throws {
    try await TestServer.run { server in
      let silent = try RawClient(port: server.port)
      let busy = try RawClient(port: server.port)
      defer {
        silent.close()
        busy.close()
      }
      await settle(server) { $0.openConnections == 2 }
      server.clock.advance(by: .seconds(59))
      busy.send("GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(await busy.receive(until: "}").hasPrefix("HTTP/1.1 200 "))
      await settle(server) { $0.openRequests == 0 }
      server.clock.advance(by: .seconds(2))
      server.server.tick()
      #expect(await silent.receiveAll().isEmpty)
      busy.send("GET /echo/2 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(await busy.receive(until: "}").contains(#""id":"2""#))
    }
  }

  @Test("a body that does not come to its end is cut")
  func slowBody() async throws {
    try await TestServer.run { server in
      let client = try RawClient(port: server.port)
      defer { client.close() }
      client.send("POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
      #expect(await client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
      client.send("12345")
      server.clock.advance(by: .seconds(31))
      server.server.tick()
      #expect(await client.receiveAll().isEmpty)
    }
  }

  @Test("a client that does not take its answer is cut a minute after it") func answerNotTaken() async throws {
    let size = 8 << 20
    let big = Route(.get, "/big", RouteOperation("big", "Big")) { _ in
      HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 0x61, count: size)))
    }
    try await TestServer.run(routes: [big]) { server in
      let client = try RawClient(port: server.port, receiveBuffer: 4096)
      defer { client.close() }
      client.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
      await settle(server) { _ in server.answered.withLock { $0.count == 1 } }
      server.clock.advance(by: .seconds(61))
      server.server.tick()
      #expect(await client.receiveAll().utf8.count < size, "the rest is not sent any more")
      await settle(server) { $0.openConnections == 0 }
    }
  }

  @Test("a handler that takes too long is given up, and its late answer is dropped")
  func slowHandler() async throws {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let entered = Locked(false)
    let route = Route(.get, "/slow", RouteOperation("slow", "Slow")) { _ in
      entered.withLock { $0 = true }
      for await _ in gate {}
      return .text(200, "late")
    }
    try await TestServer.run(routes: [route]) { server in
      let client = try RawClient(port: server.port)
      defer { client.close() }
      client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
      await settle(server) { _ in entered.withLock { $0 } }
      server.clock.advance(by: .seconds(61))
      server.server.tick()
      let answer = await client.receive(until: "requestId")
      #expect(answer.hasPrefix("HTTP/1.1 503 "))
      #expect(answer.contains("handler_timeout"))
      open.finish()
      client.send("GET /echo/next HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(await client.receive(until: "next").contains(#""id":"next""#))
    }
  }
}
