import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// What a hostile client may do to the stand-in: GOAWAY ENHANCE_YOUR_CALM, at once or at a documented time, while
/// another client is served.
@Suite struct FloodTests {
  /// Floods; each gives the bytes of one blow.
  struct Flood: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let begin: @Sendable (WireRig) -> [RawFrame]
    let blow: @Sendable (WireRig, UInt32) -> [RawFrame]

    init(
      _ name: String, begin: @escaping @Sendable (WireRig) -> [RawFrame] = { _ in [] },
      blow: @escaping @Sendable (WireRig, UInt32) -> [RawFrame]
    ) {
      testDescription = name
      self.begin = begin
      self.blow = blow
    }
  }

  static let floods = [
    Flood("rapid reset") { rig, n in [.headers(2 * n + 1, rig.push), .reset(2 * n + 1)] },
    Flood("CONTINUATION without end", begin: { [.headers(1, $0.push, flags: 0)] }) { _, _ in
      [RawFrame(type: RawFrame.Kind.continuation, stream: 1, payload: RawFrame.block([("x", "y")]))]
    },
    Flood("empty CONTINUATION without end", begin: { [.headers(1, $0.push, flags: 0)] }) { _, _ in
      [RawFrame(type: RawFrame.Kind.continuation, stream: 1)]
    },
    Flood("SETTINGS") { _, n in [RawFrame.settings([(id: 3, value: n)])] },
    Flood("PING") { _, _ in [.ping()] },
    Flood("answers to no PING") { _, _ in [.ping(flags: RawFrame.acknowledges)] },
    Flood("PRIORITY") { _, n in
      [RawFrame(type: RawFrame.Kind.priority, stream: 2 * n + 1, payload: [0, 0, 0, 0, 1])]
    },
    Flood("empty DATA", begin: { [.headers(1, $0.push)] }) { _, _ in [.data(1, "", flags: 0)] },
  ]

  @Test("10,000 blows end by ENHANCE_YOUR_CALM; a neighbour is served throughout", arguments: floods)
  func flood(_ flood: Flood) throws {
    let rig = try WireRig()
    defer { rig.end() }
    let (attacker, neighbour) = (rig.open(), rig.open())
    #expect(rig.answers(neighbour, on: 1))
    attacker.send(flood.begin(rig).flatMap(\.bytes))
    var stream: UInt32 = 3
    for round in 0..<100 as Range<UInt32> {
      attacker.send((0..<100).flatMap { flood.blow(rig, round * 100 + $0).flatMap(\.bytes) })
      guard rig.answers(neighbour, on: stream) else {
        Issue.record("the neighbour is not served in round \(round)")
        return
      }
      stream += 2
    }
    #expect(attacker.goaway == RFC9113Row.calm)
    rig.loop.run(for: .seconds(10))
    #expect(attacker.isClosed)
    #expect(neighbour.goaway == nil)
    #expect(rig.core.withLock { $0.statistics.openConnections } == 1)
  }

  /// Runs until the attacker is told to go, a second at a time, with a push of the neighbour's each ten.
  private func secondsUntilCalm(
    _ rig: WireRig, _ attacker: RawPeer, _ neighbour: RawPeer, most: UInt32, each second: (UInt32) -> Void = { _ in }
  ) -> UInt32? {
    for passed in 0..<most {
      second(passed)
      rig.loop.run(for: .seconds(1))
      if passed % 10 == 0 { #expect(rig.answers(neighbour, on: 101 + passed * 2)) }
      if attacker.goaway == RFC9113Row.calm { return passed + 1 }
    }
    return nil
  }

  @Test("headers at one byte a second end after 30 s, looked at each 5") func tricklingHeaders() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let (attacker, neighbour) = (rig.open(), rig.open())
    let bytes = RawFrame.headers(1, rig.push).bytes
    let end = secondsUntilCalm(rig, attacker, neighbour, most: 120) { attacker.send([bytes[Int($0)]]) }
    // The frame's own nine bytes come first; they open no stream yet.
    #expect((35...55).contains(try #require(end)))
    rig.loop.run(for: .seconds(10))
    #expect(attacker.isClosed)
  }

  @Test("a body at one byte a second ends in the same time") func tricklingBody() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let (attacker, neighbour) = (rig.open(), rig.open())
    attacker.send(.headers(1, rig.push))
    let end = secondsUntilCalm(rig, attacker, neighbour, most: 120) { _ in attacker.send(.data(1, " ", flags: 0)) }
    #expect((30...45).contains(try #require(end)))
  }

  @Test("a header section that is never ended ends in the same time") func halfHeaders() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let (attacker, neighbour) = (rig.open(), rig.open())
    attacker.send(.headers(1, rig.push, flags: 0))
    #expect((30...45).contains(try #require(secondsUntilCalm(rig, attacker, neighbour, most: 120))))
  }

  @Test("replies that a zero window keeps back end the connection after 60 s") func zeroWindow() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let (attacker, neighbour) = (rig.open(), rig.open())
    #expect(rig.answers(attacker, on: 1))
    attacker.send(.settings([(4, 0)]))
    for stream in stride(from: 3, to: 203, by: 2) as StrideTo<UInt32> {
      attacker.send(.headers(stream, rig.push + [("apns-priority", "3")]), .data(stream, WireRig.body))
    }
    let end = secondsUntilCalm(rig, attacker, neighbour, most: 200)
    #expect((60...75).contains(try #require(end)))
    #expect(rig.core.withLock { $0.statistics.byReason["BadPriority"] } == 100)
  }

  @Test("a client that reads nothing at all is cut after 60 s") func neverReads() throws {
    let rig = try WireRig()
    defer { rig.end() }
    let talker = Talker()
    let listener = HTTP2Listener(loop: rig.loop, tls: nil, handler: talker)
    let port = try listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))
    let (attacker, neighbour) = (rig.open(port), rig.open(port))
    for peer in [attacker, neighbour] { peer.send(.settings([(id: 4, value: 0x7FFF_FFFF)]), .window(0, 0x7000_0000)) }
    rig.loop.runUntilIdle()
    attacker.channel?.pauseReading()
    for stream in stride(from: 1, to: 101, by: 2) as StrideTo<UInt32> {
      attacker.send(.headers(stream, rig.push), .data(stream, WireRig.body))
      rig.loop.run(for: .milliseconds(20))
    }
    #expect(talker.answered < 25, "nothing more is read once the replies have piled up")
    #expect(talker.open == 2)
    for stream in 0..<6 as Range<UInt32> {
      rig.loop.run(for: .seconds(10))
      #expect(rig.answers(neighbour, on: 2 * stream + 1))
    }
    #expect(talker.open == 1)
  }

  @Test("a push that waits for its own silence is no offence: nobody waits for the client") func silence() throws {
    let rig = try WireRig()
    defer { rig.end() }
    rig.core.withLock { core in
      _ = core.setFaults([FaultRule(times: 1, effect: .silence(milliseconds: 300_000))], seed: 1)
    }
    let peer = rig.open()
    peer.send(.headers(1, rig.push), .data(1, WireRig.body))
    rig.loop.run(for: .seconds(299))
    #expect(peer.goaway == nil)
    #expect(!peer.isAnswered(1))
    rig.loop.run(for: .seconds(2))
    #expect(peer.isGood(1))
  }

  @Test("slow reading takes the time that the bytes need, and is no offence of the client's") func slowRead() throws {
    let rig = try WireRig()
    defer { rig.end() }
    rig.core.withLock { core in
      _ = core.setFaults([FaultRule(times: 1, effect: .slowRead(bytesPerSecond: 10))], seed: 1)
    }
    let (peer, neighbour) = (rig.open(), rig.open())
    let text = String(repeating: "x", count: 1000)
    peer.send(.headers(1, rig.push), .data(1, #"{"aps":{"alert":"\#(text)"}}"#))
    rig.loop.run(for: .seconds(95))
    #expect(!peer.isAnswered(1))
    #expect(peer.goaway == nil)
    #expect(rig.answers(neighbour, on: 1))
    rig.loop.run(for: .seconds(12))
    #expect(peer.isGood(1))

    // The rule's end lets the connection go at once.
    peer.send(.headers(3, rig.push), .data(3, #"{"aps":{"alert":"\#(text)"}}"#))
    rig.loop.run(for: .seconds(5))
    #expect(!peer.isAnswered(3))
    let released = rig.core.withLock { $0.setFaults([], seed: 1) }
    rig.perform(released)
    rig.loop.runUntilIdle()
    #expect(peer.isGood(3))
  }
}

/// A server of long replies.
private final class Talker: HTTP2ServerHandler {
  private static let reply = [UInt8](repeating: 0x78, count: 100_000)
  private(set) var open = 0
  private(set) var answered = 0

  func connectionOpened(_ connection: HTTP2ServerConnection) { open += 1 }

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    answered += 1
    connection.respond(stream: request.stream, status: 200, headers: [], body: Self.reply)
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) { open -= 1 }
}
