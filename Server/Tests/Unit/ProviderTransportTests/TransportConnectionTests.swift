import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TestSupport
import Testing

/// What connections do to pushes.
@Suite struct TransportConnectionTests {
  @Test("OC-11: silence without FIN after one push; at T+600 a PING is not answered, the push goes out elsewhere")
  func silentDeath() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    #expect(rig.sendAndWait([try rig.push()]).first?.status == 200)
    rig.peer.connections[0].pauseReading()
    rig.run(for: .seconds(600))
    let push = try rig.push(within: .seconds(20))
    let start = rig.loop.now
    let outcome = rig.sendAndWait([push]).first
    #expect(outcome?.state == .accepted)
    #expect(outcome?.connection == 2)
    #expect(outcome?.attempts == 1)
    #expect(rig.peer.count(push) == 1)
    #expect(start.duration(to: rig.loop.now) < .seconds(20))
    _ = rig.sendAndWait([try rig.push()])
    #expect(rig.peer.connections.count == 2)
  }

  @Test("A quiet connection that answers its PING is used again")
  func quietButAlive() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    _ = rig.sendAndWait([try rig.push()])
    rig.run(for: .seconds(600))
    #expect(rig.sendAndWait([try rig.push()]).first?.connection == 1)
    #expect(rig.peer.pings == 9)
    #expect(rig.peer.connections.count == 1)
  }

  @Test("OC-79: a connection without a push for an hour is closed; the next push dials anew")
  func idle() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    _ = rig.sendAndWait([try rig.push()])
    rig.run(for: .seconds(3590))
    #expect(rig.core.statistics.connectionsReady == 1)
    rig.run(for: .seconds(20))
    #expect(rig.core.statistics.connectionsReady == 0)
    #expect(rig.sendAndWait([try rig.push()]).first?.connection == 2)
  }

  @Test("OC-13: idle for 20 minutes, then reset; noticed when HEADERS are written: once more elsewhere, 200")
  func resetWhileIdle() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    #expect(rig.sendAndWait([try rig.push()]).first?.status == 200)
    rig.run(for: .seconds(1200))
    // The network is gone without a word at T+1200; the reset comes when something is sent.
    let old = rig.loop.connections[0]
    old.takeAtMost = old.arrived(.toServer)
    let push = try rig.push()
    rig.send([push])
    rig.run(for: .milliseconds(500))
    #expect(rig.sink.outcomes.count == 1)
    old.reset()
    rig.run(for: .seconds(5)) { rig.sink.outcomes.count == 2 }
    let outcome = rig.outcome(push)
    #expect(outcome?.status == 200)
    #expect(outcome?.connection == 2)
    #expect(outcome?.attempts == 1)
    #expect(rig.peer.count(push) == 1)
    #expect(rig.core.open == 0)
  }

  @Test(
    "OC-12: the first dial hangs (no SYN-ACK, or no answer); one new dial, 100 × 200; no waiter outlives it",
    arguments: [true, false])
  func hangingDial(isSwallowed: Bool) throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.loop.onConnect = { connection in
      guard connection.number == 0 else { return }
      if isSwallowed { connection.dial = .swallowed } else { connection.stallAfter = (.toClient, 0) }
    }
    let start = rig.loop.now
    let hurried = try rig.push(within: .seconds(5))
    let pushes = try rig.pushes(100)
    rig.send([hurried] + pushes)
    rig.run(for: .seconds(6))
    #expect(rig.outcome(hurried)?.state == .expired)
    #expect(rig.outcome(hurried)?.reason == .providerUnreachable)
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 101 }
    #expect(rig.sink.outcomes.count { $0.status == 200 && $0.attempts == 1 } == 100)
    #expect(rig.core.statistics.connectionsDialed == 2)
    #expect(start.duration(to: rig.loop.now) < .seconds(11))
  }

  @Test("OC-14: streams 1, 3, 5, 7; 1 answered, GOAWAY(last=3), 3 answered, closed: 5 and 7 once more, same apns-id")
  func goaway() throws {
    let rig = try TransportRig(streams: 4)
    defer { rig.end() }
    var held: [ScriptedPeer.Request] = []
    rig.peer.script = { request, connection in
      guard request.connection == 1 else { return connection.accept(request) }
      held.append(request)
      guard held.count == 4 else { return }
      connection.accept(held[0])
      connection.goaway(lastStreamID: 3, code: .noError, debug: [])
      connection.accept(held[1])
      connection.close()
    }
    let pushes = try rig.pushes(4)
    let outcomes = rig.sendAndWait(pushes)
    #expect(outcomes.allSatisfy { $0.status == 200 && $0.attempts == 1 })
    #expect(pushes.map { rig.peer.count($0) } == [1, 1, 2, 2])
    #expect(pushes.map { rig.outcome($0)?.connection } == [1, 1, 2, 2])
    #expect(rig.peer.connections.count == 2)
  }

  @Test("OC-15: GOAWAY(2^31-1), TCP stays open for hours: the next push dials anew, 10 pushes, 0 failures")
  func goawayWithoutClose() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { request, connection in
      connection.accept(request)
      if request.connection == 1 { connection.goaway(lastStreamID: .max, code: .noError, debug: []) }
    }
    for _ in 0..<10 {
      #expect(rig.sendAndWait([try rig.push()]).first?.status == 200)
      rig.run(for: .seconds(60))
    }
    #expect(rig.peer.requests.map(\.connection) == [1] + [Int](repeating: 2, count: 9))
    // The old one was closed by us; the new one answers its PINGs.
    #expect(rig.core.statistics.connectionsReady == 1)
    #expect(rig.peer.pings > 0)
  }

  @Test("OC-17: accepted, then TCP is reset before the response: unknown; with a collapse id once more, same apns-id")
  func replyLost() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { request, connection in
      if request.connection == 1 { connection.abort() } else { connection.accept(request) }
    }
    let plain = try rig.push()
    let collapsing = try rig.push(collapseID: "news")
    _ = rig.sendAndWait([plain, collapsing])
    #expect(rig.outcome(plain)?.state == .unknown)
    #expect(rig.outcome(plain)?.reason == .replyLost)
    #expect(rig.peer.count(plain) == 1)
    #expect(rig.outcome(collapsing)?.state == .accepted)
    #expect(rig.outcome(collapsing)?.attempts == 2)
    #expect(rig.peer.count(collapsing) <= 2)
  }

  @Test("TCP is reset after the head of an answer: its status counts, and what may be repeated is")
  func resetAfterHead() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let pushes = try rig.pushes(3)
    let statuses = [200, 410, 503]
    var dialled: [ScriptedConnection] = []
    rig.loop.onConnect = { dialled.append($0) }
    rig.peer.script = { request, connection in
      guard request.connection == 1 else { return connection.accept(request) }
      connection.respond(
        stream: request.stream, status: statuses[request.number - 1], headers: [], body: [], endStream: false)
      // When the heads have arrived.
      if request.number == 3 { rig.loop.schedule(after: .milliseconds(100)) { dialled[0].reset() } }
    }
    let outcomes = rig.sendAndWait(pushes)
    #expect(outcomes.count == 3)
    #expect(pushes.map { rig.outcome($0)?.state } == [.accepted, .rejected, .accepted])
    #expect(pushes.map { rig.outcome($0)?.status } == [200, 410, 200])
    #expect(pushes.map { rig.peer.count($0) } == [1, 1, 2])
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("A peer that cannot be reached: so many dials, then every push ends provider_unreachable, none written")
  func unreachable() throws {
    let rig = try TransportRig {
      $0.pool.dialsMaximum = 3; $0.endpoint.port = 1
    }
    defer { rig.end() }
    let outcomes = rig.sendAndWait(try rig.pushes(50))
    #expect(outcomes.count { $0.state == .expired && $0.reason == .providerUnreachable && $0.attempts == 0 } == 50)
    #expect(rig.core.statistics.connectionsDialed == 3)
    #expect(rig.core.statistics.requestsWritten == 0)
  }

  @Test("Without a limit of dials the push's own time decides")
  func unreachableUntilItsTimeIsOver() throws {
    let rig = try TransportRig { $0.endpoint.port = 1 }
    defer { rig.end() }
    let start = rig.loop.now
    let outcome = rig.sendAndWait([try rig.push(within: .seconds(7))]).first
    #expect(outcome?.state == .expired)
    #expect(outcome?.reason == .providerUnreachable)
    #expect(start.duration(to: rig.loop.now) >= .seconds(7))
    #expect(start.duration(to: rig.loop.now) < .seconds(8))
  }

  @Test("A second connection is opened when the first is full, not before")
  func fillsBeforeOpening() throws {
    let rig = try TransportRig(streams: 10) { $0.pool.connections = 2 }
    defer { rig.end() }
    rig.peer.script = { _, _ in }
    rig.send(try rig.pushes(10))
    rig.run(for: .seconds(1))
    #expect(rig.peer.connections.count == 1)
    rig.send(try rig.pushes(10))
    rig.run(for: .seconds(1))
    #expect(rig.peer.connections.count == 2)
    #expect(rig.peer.requests.count { $0.connection == 2 } == 10)
  }
}
