import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives
import TestSupport
import Testing

/// A client and a server on a scripted network.
private final class Stage {
  let loop: ScriptedLoop
  let server = ServerEar()
  let client = ClientEar()
  let listener: HTTP2Listener
  let connection: HTTP2ClientConnection
  private(set) var served: HTTP2ServerConnection?

  init(
    seed: UInt64 = 1, network: ScriptedNetwork = .init(), server configuration: HTTP2ServerConfiguration = .init(),
    firstStreamID: Int32 = 1
  ) throws {
    loop = ScriptedLoop(seed: seed, network: network)
    listener = HTTP2Listener(loop: loop, tls: nil, configuration: configuration, handler: server)
    let endpoint = Endpoint(host: "apns.example", port: 443)
    _ = try listener.listen(on: endpoint)
    connection = HTTP2ClientConnection(
      loop: loop, configuration: .init(endpoint: endpoint, tls: nil, firstStreamID: firstStreamID),
      events: client.hear)
    server.opened = { [unowned self] in served = $0 }
  }

  /// What is still open holds the stage in a circle.
  func end() {
    loop.end()
    server.end()
    client.onNote = { _ in }
  }

  func open() {
    connection.start()
    loop.runUntilIdle()
  }
}

@Suite("HTTP/2 connections on the scripted network")
struct ScriptedTests {
  @Test("64 KiB window, 1000 bodies of 4096 bytes: all arrive, nobody starves", arguments: [1, 2, 3] as [UInt64])
  func noStarvation(seed: UInt64) throws {
    let permits = 100
    let stage = try Stage(
      seed: seed,
      server: .init(maxConcurrentStreams: permits, connectionWindow: 65_535, streamWindow: 65_535))
    defer { stage.end() }
    let body = [UInt8](repeating: 0x78, count: 4096)
    var next: UInt64 = 0
    var largestLag = 0
    var answered = 0
    stage.client.onNote = { [unowned stage] note in
      if case .response(let tag, _) = note {
        // How many later ones have overtaken it.
        largestLag = max(largestLag, answered - Int(tag))
        answered += 1
      }
      while next < 1000, stage.connection.canSubmit(bodyBytes: 4096) {
        stage.connection.submit(next, body: body)
        next += 1
      }
    }
    var wrongBodies = 0
    stage.server.request = { request, connection in
      if request.body != body { wrongBodies += 1 }
      connection.respond(stream: request.stream, status: 200, headers: [], body: [])
    }
    stage.open()
    #expect(stage.client.responses.count == 1000)
    #expect(wrongBodies == 0)
    #expect(largestLag <= 2 * permits)
  }

  @Test("OC-12 a dial that hangs ends at its deadline", arguments: ["syn", "settings"])
  func dialDeadline(phase: String) throws {
    let stage = try Stage()
    defer { stage.end() }
    stage.loop.onConnect = { connection in
      if phase == "syn" { connection.dial = .swallowed } else { connection.stallAfter = (.toClient, 0) }
    }
    let start = stage.loop.now
    stage.open()
    stage.loop.run(for: .milliseconds(9_900) - start.duration(to: stage.loop.now))
    #expect(stage.client.notes.isEmpty)
    stage.loop.run(for: .milliseconds(200))
    #expect(stage.client.notes == [.closed(.dialTimedOut, lost: [], unsent: [])])
  }

  @Test("nobody listens: unreachable")
  func refused() throws {
    let stage = try Stage()
    defer { stage.end() }
    stage.loop.onConnect = { $0.dial = .refused }
    stage.open()
    #expect(stage.client.notes == [.closed(.unreachable, lost: [], unsent: [])])
  }

  @Test("OC-14 GOAWAY(3) over streams 1, 3, 5, 7: 1 and 3 are answered, 5 and 7 come back unprocessed")
  func goaway() throws {
    let stage = try Stage()
    defer { stage.end() }
    stage.server.request = { request, connection in
      if request.stream == 1 { connection.respond(stream: 1, status: 200, headers: [], body: []) }
      guard request.stream == 7 else { return }
      connection.goaway(lastStreamID: 3, code: .noError, debug: Array("restart".utf8))
      connection.respond(stream: 3, status: 200, headers: [], body: [])
    }
    stage.open()
    for tag in [1, 3, 5, 7] as [UInt64] { stage.connection.submit(tag) }
    stage.connection.flush()
    stage.loop.runUntilIdle()
    stage.loop.run(for: .seconds(2))
    #expect(stage.client.notes.contains(.goaway(3, .noError, "restart")))
    #expect(stage.client.unprocessed == [5, 7])
    #expect(stage.client.responses.sorted() == [1, 3])
    #expect(stage.client.end == .closed(.drained, lost: [], unsent: []))
    #expect(!stage.connection.canSubmit(bodyBytes: 1))
  }

  @Test("200 before the body is in, then RST_STREAM(NO_ERROR): success, and the connection goes on")
  func earlyAnswer() throws {
    let stage = try Stage(server: .init(streamWindow: 10))
    defer { stage.end() }
    stage.server.head = { head, connection in
      connection.respond(stream: head.stream, status: 200, headers: [], body: [])
    }
    stage.open()
    stage.connection.submit(1, body: [UInt8](repeating: 0, count: 5000))
    stage.connection.flush()
    stage.loop.runUntilIdle()
    #expect(stage.client.responses == [1])
    #expect(stage.connection.openStreams == 0)
    #expect(stage.client.end == nil)
  }

  @Test("OC-82 SETTINGS 500, then 1 with REFUSED_STREAM for the unanswered, then 500 again")
  func settingsMove() throws {
    let stage = try Stage(server: .init(maxConcurrentStreams: 500))
    defer { stage.end() }
    var seen: [Int32] = []
    stage.server.request = { request, connection in
      seen.append(request.stream)
      guard seen.count == 50 else { return }
      connection.respond(stream: seen[0], status: 400, headers: [], body: [])
      connection.setMaxConcurrentStreams(1)
      for stream in seen.dropFirst() { connection.reset(stream: stream, code: .refusedStream) }
    }
    stage.open()
    for tag in 0..<50 as Range<UInt64> { stage.connection.submit(tag) }
    stage.connection.flush()
    stage.loop.runUntilIdle()
    #expect(stage.client.unprocessed.sorted() == Array(1..<50))
    #expect(stage.client.responses == [0])
    #expect(stage.client.notes.contains(.maxConcurrentStreams(1)))
    #expect(stage.connection.canSubmit(bodyBytes: 1))
    stage.connection.submit(100)
    #expect(!stage.connection.canSubmit(bodyBytes: 1))
    let served = try #require(stage.served)
    served.setMaxConcurrentStreams(500)
    served.flush()
    stage.loop.runUntilIdle()
    #expect(stage.client.notes.contains(.maxConcurrentStreams(500)))
    #expect(stage.connection.canSubmit(bodyBytes: 1))
  }

  @Test("the kernel takes nothing more: what it took is lost, the rest is unsent")
  func takenOrNot() throws {
    let stage = try Stage()
    defer { stage.end() }
    var wire: ScriptedConnection?
    stage.loop.onConnect = { wire = $0 }
    stage.open()
    let connection = try #require(wire)
    connection.blackHole()
    connection.takeAtMost = connection.arrived(.toServer) + 20
    stage.connection.submit(1, body: [])
    stage.connection.submit(2, body: [])
    stage.connection.submit(3, body: [])
    stage.connection.flush()
    #expect(stage.client.notes.last == .written([1]))
    connection.reset()
    stage.loop.runUntilIdle()
    #expect(stage.client.notes.last == .closed(.peerClosed, lost: [1], unsent: [2, 3]))
  }

  @Test("ping, stream-id exhaustion, cancel, abort")
  func smallThings() throws {
    let stage = try Stage(firstStreamID: .max - 4)
    defer { stage.end() }
    stage.server.request = { _, _ in }
    stage.open()
    stage.connection.ping()
    stage.loop.runUntilIdle()
    #expect(stage.client.notes.last == .pong)
    for tag in 1...3 as ClosedRange<UInt64> { stage.connection.submit(tag) }
    stage.connection.flush()
    #expect(stage.client.notes.last == .exhausted)
    stage.connection.cancel(tag: 2)
    stage.loop.runUntilIdle()
    #expect(stage.connection.openStreams == 2)
    stage.connection.abort()
    #expect(stage.client.end == nil)
    stage.loop.runUntilIdle()
    #expect(stage.client.end == .closed(.aborted, lost: [1, 3], unsent: []))
  }

  @Test("close waits for open requests, then closes in order; the listener's stop does the same", arguments: [1, 2])
  func closing(side: Int) throws {
    let stage = try Stage()
    defer { stage.end() }
    var held: (Int32, HTTP2ServerConnection)?
    stage.server.request = { held = ($0.stream, $1) }
    stage.open()
    stage.connection.submit(1)
    stage.connection.flush()
    stage.loop.runUntilIdle()
    if side == 1 { stage.listener.stop() } else { stage.connection.close() }
    stage.loop.runUntilIdle()
    #expect(stage.client.end == nil)
    #expect(!stage.connection.canSubmit(bodyBytes: 1))
    let (stream, served) = try #require(held)
    served.respond(stream: stream, status: 200, headers: [], body: [])
    served.flush()
    stage.loop.run(for: .seconds(2))
    #expect(stage.client.responses == [1])
    #expect(stage.client.end == .closed(.drained, lost: [], unsent: []))
    #expect(stage.listener.connections.isEmpty)
  }

  @Test("a client that never sends its preface is dropped; connections beyond the cap are refused")
  func serverGuards() throws {
    let stage = try Stage(server: .init(maxConnections: 1))
    defer { stage.end() }
    stage.loop.onConnect = { $0.stallAfter = (.toServer, 0) }
    stage.open()
    #expect(stage.listener.connections.count == 1)
    let second = ClientEar()
    HTTP2ClientConnection(
      loop: stage.loop, configuration: stage.connection.configuration, events: second.hear
    ).start()
    stage.loop.runUntilIdle()
    #expect(second.notes == [.closed(.unreachable, lost: [], unsent: [])])
    stage.loop.run(for: .seconds(11))
    #expect(stage.listener.connections.isEmpty)
  }

  @Test("the same seed gives the same trace, another seed another")
  func replay() throws {
    func trace(_ seed: UInt64) throws -> UInt64 {
      let stage = try Stage(seed: seed)
      defer { stage.end() }
      stage.open()
      for tag in 0..<20 as Range<UInt64> { stage.connection.submit(tag) }
      stage.connection.flush()
      stage.loop.runUntilIdle()
      #expect(stage.client.responses.count == 20)
      return stage.loop.traceHash
    }
    #expect(try trace(5) == trace(5))
    #expect(try trace(5) != trace(6))
  }
}
