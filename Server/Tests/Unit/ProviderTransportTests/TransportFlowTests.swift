import APNs
import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TestSupport
import Testing

/// How pushes move: flow control, deadlines, neighbours, a proxy.
@Suite struct TransportFlowTests {
  @Test(
    "64 KiB window, 1000 pushes of 4096 bytes: no body is split, nobody waits longer than two fillings of the permits",
    arguments: [1, 2, 3] as [UInt64])
  func noStarvation(seed: UInt64) throws {
    let permits = 100
    let rig = try TransportRig(seed: seed, streams: permits, windows: 65_535)
    defer { rig.end() }
    var reader = FrameReader(fromClient: true)
    var splitBodies = 0
    var bodies = 0
    rig.loop.onConnect = { connection in
      connection.onArrival = { direction, bytes in
        guard direction == .toServer else { return }
        for frame in reader.read(bytes) where frame.isData {
          bodies += 1
          if !frame.endsStream || frame.payload.count != 4096 { splitBodies += 1 }
        }
      }
    }
    let pushes = try (0..<1000).map { _ in try rig.push(bytes: 4096) }
    let outcomes = rig.sendAndWait(pushes)
    #expect(outcomes.count { $0.state == .accepted } == 1000)
    #expect(bodies == 1000)
    #expect(splitBodies == 0)
    let lag = outcomes.enumerated().map { $0.offset - Int($0.element.tag - pushes[0].tag) }.max() ?? 0
    #expect(lag <= 2 * permits)
    #expect(rig.peer.connections.count == 1)
  }

  @Test("An answer counts at once, though the kernel takes more of what is written in the same turn")
  func answeredWhileWriting() throws {
    // Each piece that arrives makes room for the next one in the same instant.
    let network = ScriptedNetwork(
      latency: .milliseconds(10) ... .milliseconds(10), chunksPerWrite: 1, capacity: 2000...2000)
    let rig = try TransportRig(network: network)
    defer { rig.end() }
    let (first, others) = (try rig.push(), try rig.pushes(200))
    rig.peer.script = { request, connection in
      guard request.number == 1 else { return }
      connection.accept(request)
      rig.send(others)
    }
    rig.send([first])
    rig.run(for: .milliseconds(200)) { !rig.sink.outcomes.isEmpty }
    #expect(rig.outcome(first)?.state == .accepted)
    #expect(rig.peer.requests.count == 1, "the others are being written")
  }

  @Test("OC-94: t1 → 200 after 300 ms, t2 → 410 after 10 ms, 1000 times in random order: each its own answer")
  func answersBelongToTheirPush() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    var generator = SeededGenerator(seed: 94)
    var dead: Set<String> = []
    rig.peer.script = { request, connection in
      let isDead = dead.contains(request.apnsID)
      rig.loop.schedule(after: .milliseconds(isDead ? 10 : 300)) {
        if isDead { connection.refuse(request, 410, "Unregistered") } else { connection.accept(request) }
        connection.flush()
      }
    }
    for _ in 0..<1000 {
      var pair = try rig.pushes(2)
      let (t1, t2) = (pair[0], pair[1])
      dead.insert(t2.apnsID.description)
      pair.shuffle(using: &generator)
      _ = rig.sendAndWait(pair)
      #expect(rig.outcome(t1)?.state == .accepted)
      #expect(rig.outcome(t2)?.reason == .apns("Unregistered"))
      #expect(rig.outcome(t2)?.verdict == .tokenDead)
      rig.sink.clear()
    }
    #expect(rig.peer.requests.count == 2000)
  }

  @Test("OC-19: a batch of 100, the 30th malformed, the 60th gone: each of the 98 others is accepted exactly once")
  func oneBadRecipient() throws {
    let rig = try TransportRig(streams: 7)
    defer { rig.end() }
    let pushes = try rig.pushes(100)
    rig.peer.script = { request, connection in
      switch request.apnsID {
      case pushes[29].apnsID.description: connection.refuse(request, 400, "BadDeviceToken")
      case pushes[59].apnsID.description: connection.refuse(request, 410, "Unregistered")
      default: connection.accept(request)
      }
    }
    _ = rig.sendAndWait(pushes)
    #expect(pushes.allSatisfy { rig.peer.count($0) == 1 })
    for (index, push) in pushes.enumerated() {
      #expect(rig.outcome(push)?.status == (index == 29 ? 400 : index == 59 ? 410 : 200))
    }
    #expect(rig.peer.connections.count == 1)
  }

  @Test("The whole-send deadline: unsent → expired, written → unknown with RST CANCEL, repeats are not waited for")
  func wholeSendDeadline() throws {
    let rig = try TransportRig(streams: 2) { $0.wholeSendDeadline = .seconds(12) }
    defer { rig.end() }
    var busy: Set<String> = []
    rig.peer.script = { request, connection in
      if busy.contains(request.apnsID) { connection.refuse(request, 503, "ServiceUnavailable") }
    }
    let start = rig.loop.now
    let retried = try rig.push(attemptLimit: 100)
    busy.insert(retried.apnsID.description)
    _ = rig.send([retried])
    rig.run(for: .seconds(1))
    let written = try rig.pushes(2)
    let unsent = try rig.push()
    rig.send(written + [unsent])
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 4 }
    #expect(start.duration(to: rig.loop.now) < .seconds(14))
    #expect(rig.outcome(retried)?.state == .expired)
    #expect(rig.outcome(retried)?.reason == .apns("ServiceUnavailable"))
    #expect(written.allSatisfy { rig.outcome($0)?.state == .unknown && rig.outcome($0)?.reason == .replyLost })
    #expect(rig.outcome(unsent)?.state == .expired)
    #expect(rig.outcome(unsent)?.attempts == 0)
    rig.run(for: .seconds(1))
    #expect(rig.peer.resets == 2)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("The request timeout: unknown and CANCEL; with a collapse id once more and no third time")
  func requestTimeout() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { _, _ in }
    let plain = try rig.push()
    let collapsing = try rig.push(collapseID: "x")
    _ = rig.sendAndWait([plain, collapsing])
    #expect(rig.outcome(plain)?.state == .unknown)
    #expect(rig.outcome(collapsing)?.state == .unknown)
    #expect(rig.peer.count(plain) == 1)
    #expect(rig.peer.count(collapsing) == 2)
    rig.run(for: .seconds(1))
    #expect(rig.peer.resets == 3)
  }

  @Test("Through a proxy with credentials; when the proxy refuses, the pushes end in time and say so")
  func proxy() throws {
    let rig = try TransportRig(
      proxy: .tunnels(credentials: "ada:secret"), credentials: .init(user: "ada", password: "secret"))
    #expect(rig.sendAndWait(try rig.pushes(20)).count { $0.state == .accepted } == 20)
    #expect(rig.proxy?.requests.count == 1)
    rig.end()
    let refused = try TransportRig(proxy: .tunnels(credentials: "ada:secret")) { $0.pool.dialsMaximum = 2 }
    let outcomes = refused.sendAndWait(try refused.pushes(5))
    #expect(outcomes.allSatisfy { $0.state == .expired && $0.reason == .providerUnreachable && $0.attempts == 0 })
    #expect(refused.core.statistics.lastConnectionError?.kind == .proxyRefused(status: 407))
    #expect(refused.peer.connections.isEmpty)
    refused.end()
  }
}
