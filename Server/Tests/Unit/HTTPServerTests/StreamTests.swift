import HTTPServer
import PabalPrimitives
import Testing

@Suite struct StreamTests {
  private func settle(until condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  private func route(_ stream: BodyStream) -> Route {
    Route(.get, "/stream", RouteOperation("stream", "Stream")) { _ in .events(stream) }
  }

  private func open(_ server: TestServer, receiveBuffer: Int? = nil) throws -> RawClient {
    let client = try RawClient(port: server.port, receiveBuffer: receiveBuffer)
    client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
    return client
  }

  @Test func eventsArriveAsTheyAreWritten() async throws {
    let stream = BodyStream()
    let isClosed = Locked(0)
    stream.onClosed { isClosed.withLock { $0 += 1 } }
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server)
      defer { client.close() }
      #expect(await client.receive(until: "\r\n\r\n").contains("Content-Type: text/event-stream"))
      for number in 0..<3 {
        #expect(await stream.write(Array("data: \(number)\n\n".utf8)))
        #expect(await client.receive(until: "data: \(number)\n\n").contains("data: \(number)"))
      }
      stream.finish()
      #expect(await client.receive(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
      await settle { isClosed.withLock { $0 } == 1 }
      #expect(await stream.write([1]) == false)
      #expect(stream.offer([1]) == false)
    }
    #expect(isClosed.withLock { $0 } == 1)
  }

  @Test("a producer waits while the client does not read, and its bytes arrive whole")
  func backPressure() async throws {
    let total = 16 << 20
    let written = Locked(0)
    let stream = BodyStream { stream in
      let piece = [UInt8](repeating: UInt8(ascii: "#"), count: 64 << 10)
      for _ in 0..<(total / piece.count) {
        guard await stream.write(piece) else { return }
        written.withLock { $0 += piece.count }
      }
    }
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server, receiveBuffer: 4096)
      defer { client.close() }
      await settle { written.withLock { $0 } > BodyStream.bufferBytes }
      // The rest cannot be in the kernel's buffers: the producer must be waiting.
      #expect(written.withLock { $0 } < total)
      var received = 0
      var last: [UInt8] = []
      while !last.suffix(7).elementsEqual(Array("\r\n0\r\n\r\n".utf8)) {
        let bytes = await client.receive(64 << 10)
        if bytes.isEmpty { break }
        received += bytes.count { $0 == UInt8(ascii: "#") }
        last = Array((last + bytes).suffix(7))
      }
      #expect(received == total)
    }
  }

  @Test("a client that takes nothing is cut by `offer` at the bound")
  func slowClientIsCut() async throws {
    let stream = BodyStream()
    let isClosed = Locked(false)
    stream.onClosed { isClosed.withLock { $0 = true } }
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server, receiveBuffer: 4096)
      defer { client.close() }
      #expect(await client.receive(until: "\r\n\r\n").contains("200"))
      let piece = [UInt8](repeating: 0, count: 64 << 10)
      var offered = 0
      while stream.offer(piece) { offered += 1 }
      #expect(offered < 1000)
      await settle { isClosed.withLock { $0 } }
      await settle { server.server.openRequests == 0 }
    }
  }

  @Test("a client that takes nothing is cut after half a minute, heartbeats or not")
  func stalledClientIsCut() async throws {
    let stream = BodyStream { stream in
      let piece = [UInt8](repeating: 0, count: 64 << 10)
      while await stream.write(piece) {}
    }
    let isClosed = Locked(false)
    stream.onClosed { isClosed.withLock { $0 = true } }
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server, receiveBuffer: 4096)
      defer { client.close() }
      // A tick before the stream has begun would end a connection that sent no request in time, and no stream at all.
      #expect(await client.receive(until: "\r\n\r\n").contains("200"))
      // Ticks see a stream that moves until the kernel's buffers are full; then nothing moves any more.
      var ticks = 0
      while !isClosed.withLock({ $0 }) {
        server.clock.advance(by: .seconds(5))
        server.server.tick()
        ticks += 1
        await Task.yield()
      }
      #expect(ticks >= 6)
      await settle { server.server.openRequests == 0 }
    }
  }

  @Test("a client that left is noticed by the heartbeat, and only then")
  func closedClientIsNoticed() async throws {
    let stream = BodyStream()
    let isClosed = Locked(false)
    stream.onClosed { isClosed.withLock { $0 = true } }
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server)
      #expect(await client.receive(until: "\r\n\r\n").contains("200"))
      server.clock.advance(by: .seconds(15))
      server.server.tick()
      #expect(await client.receive(until: ": \n\n").contains(": \n\n"))
      client.close()
      #expect(isClosed.withLock { $0 } == false)
      while !isClosed.withLock({ $0 }) {
        server.clock.advance(by: .seconds(15))
        server.server.tick()
        await Task.yield()
      }
      await settle { server.server.openRequests == 0 }
    }
  }

  @Test("a stream has no deadline")
  func noDeadline() async throws {
    let stream = BodyStream()
    try await TestServer.run(routes: [route(stream)]) { server in
      let client = try open(server)
      defer { client.close() }
      #expect(await client.receive(until: "\r\n\r\n").contains("200"))
      for _ in 0..<100 {
        server.clock.advance(by: .seconds(15))
        server.server.tick()
        #expect(await client.receive(until: ": \n\n").contains(": \n\n"))
      }
      stream.offer(Array("data: end\n\n".utf8))
      #expect(await client.receive(until: "end").contains("end"))
    }
  }

  @Test("stopping ends open streams and tells their owners")
  func stopEndsStreams() async throws {
    let stream = BodyStream()
    let isClosed = Locked(false)
    stream.onClosed { isClosed.withLock { $0 = true } }
    var client: RawClient?
    try await TestServer.run(routes: [route(stream)]) { server in
      client = try open(server)
      #expect(await client?.receive(until: "\r\n\r\n").contains("200") == true)
    }
    #expect(isClosed.withLock { $0 })
    client?.close()
  }
}
