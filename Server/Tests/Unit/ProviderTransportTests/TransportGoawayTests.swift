import APNs
import Delivery
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TestSupport
import Testing

/// GOAWAY in all its forms (RFC 9113 section 6.8), RST_STREAM, and stream ids that run out.
@Suite struct TransportGoawayTests {
  /// The peer says GOAWAY on its first connection when all requests are there; those up to `last` are answered.
  private func run(
    last: Int32?, debug: [UInt8] = [], _ after: @escaping (HTTP2ServerConnection) -> Void = { _ in }
  ) throws -> (rig: TransportRig, pushes: [APNsPush]) {
    let rig = try TransportRig(streams: 4)
    var held: [ScriptedPeer.Request] = []
    rig.peer.script = { request, connection in
      guard request.connection == 1 else { return connection.accept(request) }
      held.append(request)
      guard held.count == 4 else { return }
      connection.goaway(lastStreamID: last, code: .noError, debug: debug)
      after(connection)
      for request in held where request.stream <= last ?? .max { connection.accept(request) }
    }
    let pushes = try rig.pushes(4)
    _ = rig.sendAndWait(pushes)
    return (rig, pushes)
  }

  @Test(
    "Last stream id: none, some or all of streams 1, 3, 5, 7; the others are sent once more, on a new connection",
    arguments: [(0, 4), (3, 2), (7, 0), (Int32.max, 0)] as [(Int32, Int)])
  func lastStreamID(last: Int32, again: Int) throws {
    let (rig, pushes) = try run(last: last)
    defer { rig.end() }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .accepted && $0.attempts == 1 })
    #expect(pushes.map { rig.peer.count($0) }.reduce(0, +) == 4 + again)
    #expect(rig.peer.connections.count == (again > 0 ? 2 : 1))
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("Twice, the second with a lower last stream id: each push that was given up goes out once more")
  func twice() throws {
    let (rig, pushes) = try run(last: 5) { connection in
      connection.goaway(lastStreamID: 1, code: .noError, debug: [])
    }
    defer { rig.end() }
    #expect(rig.sink.outcomes.count { $0.state == .accepted && $0.attempts == 1 } == 4)
    #expect(pushes.map { rig.peer.count($0) } == [1, 2, 2, 2])
    #expect(rig.core.statistics.goaways == 2)
    #expect(rig.peer.connections.count == 2)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test(
    "Debug data: empty, not JSON, not UTF-8, 10 KB, or a reason; the pushes fare the same, the reason is kept",
    arguments: ["empty", "text", "not UTF-8", "10 KB", "reason"])
  func debugData(kind: String) throws {
    let debug: [UInt8]
    switch kind {
    case "text": debug = Array("go away".utf8)
    case "not UTF-8": debug = [0xFF, 0xFE, 0x00]
    case "10 KB": debug = [UInt8](repeating: UInt8(ascii: "{"), count: 10_000)
    case "reason": debug = Array(#"{"reason":"Shutdown"}"#.utf8)
    default: debug = []
    }
    let (rig, pushes) = try run(last: 3, debug: debug)
    defer { rig.end() }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .accepted })
    #expect(pushes.map { rig.peer.count($0) } == [1, 1, 2, 2])
    #expect(rig.core.statistics.lastGoawayReason == (kind == "reason" ? "Shutdown" : nil))
  }

  @Test("A GOAWAY that names the credential ends what waits with that word instead of dialling for ever")
  func debugDataAboutTheCredential() throws {
    let (rig, _) = try run(last: 0, debug: Array(#"{"reason":"BadCertificate"}"#.utf8))
    defer { rig.end() }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .canceled && $0.reason == .apns("BadCertificate") })
    #expect(rig.core.statistics.credentialRefusal == .apns("BadCertificate"))
    #expect(rig.peer.connections.count == 1)
  }

  @Test("The socket stays open and replies never come: request timeout, unknown, RST CANCEL, then we close")
  func socketLeftOpen() throws {
    let rig = try TransportRig(streams: 4)
    defer { rig.end() }
    rig.peer.script = { request, connection in
      guard request.connection == 1 else { return connection.accept(request) }
      if request.number == 2 { connection.goaway(lastStreamID: .max, code: .noError, debug: []) }
    }
    let outcomes = rig.sendAndWait(try rig.pushes(2))
    #expect(outcomes.allSatisfy { $0.state == .unknown && $0.reason == .replyLost && $0.attempts == 1 })
    rig.run(for: .seconds(2))
    #expect(rig.peer.resets == 2)
    #expect(rig.core.statistics.connectionsReady == 0)
    #expect(rig.sendAndWait([try rig.push()]).first?.connection == 2)
  }

  @Test("GOAWAY on each new connection at once: no dial storm, and the push ends when its time is over")
  func goawayAtOnce() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.welcome = { _, connection in connection.goaway(lastStreamID: 0, code: .noError, debug: []) }
    let outcome = rig.sendAndWait([try rig.push(within: .seconds(60))]).first
    #expect(outcome?.state == .expired)
    #expect(outcome?.attempts == 0)
    #expect((3...40).contains(rig.core.statistics.connectionsDialed))
  }

  @Test(
    "RST_STREAM: what the push makes of it",
    arguments: [
      (.refusedStream, .accepted, 2), (.cancel, .unknown, 1), (.internalError, .unknown, 1),
      (.noError, .unknown, 1), (.enhanceYourCalm, .unknown, 1),
    ] as [(HTTP2ErrorCode, DeliveryState, Int)])
  func resets(code: HTTP2ErrorCode, state: DeliveryState, onTheWire: Int) throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { request, connection in
      if request.number == 1 {
        connection.reset(stream: request.stream, code: code)
      } else {
        connection.accept(request)
      }
    }
    let push = try rig.push()
    #expect(rig.sendAndWait([push]).first?.state == state)
    #expect(rig.peer.count(push) == onTheWire)
    #expect(rig.core.permitsTaken == 0)
    #expect(rig.sendAndWait([try rig.push()]).first?.connection == 1)
  }

  @Test(
    "A status and then RST_STREAM instead of the end: the provider has answered, whatever the code",
    arguments: [(200, .accepted), (400, .rejected), (410, .rejected)] as [(Int, DeliveryState)],
    [.cancel, .internalError] as [HTTP2ErrorCode])
  func statusThenReset(_ answer: (status: Int, state: DeliveryState), code: HTTP2ErrorCode) throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { request, connection in
      connection.respond(stream: request.stream, status: answer.status, headers: [], body: [], endStream: false)
      // The head is on its way before the stream is reset.
      rig.loop.schedule(after: .milliseconds(1)) {
        connection.reset(stream: request.stream, code: code)
        connection.flush()
      }
    }
    let push = try rig.push(collapseID: "x")
    let outcome = rig.sendAndWait([push]).first
    #expect(outcome?.state == answer.state)
    #expect(outcome?.status == answer.status)
    #expect(outcome?.verdict != .tokenDead)
    #expect(rig.peer.count(push) == 1)
  }

  @Test("Stream ids run out: the connection is replaced before the last one, nothing is lost or sent twice")
  func streamIDs() throws {
    let rig = try TransportRig(streams: 10) { $0.lastStreamID = 39 }
    defer { rig.end() }
    let pushes = try rig.pushes(70)
    let outcomes = rig.sendAndWait(pushes)
    #expect(outcomes.count { $0.state == .accepted && $0.attempts == 1 } == 70)
    #expect(rig.peer.requests.count == 70)
    #expect(rig.peer.requests.map(\.stream).max() == 39)
    #expect(rig.peer.connections.count == 4)
    #expect(rig.core.statistics.goaways == 0)
  }
}
