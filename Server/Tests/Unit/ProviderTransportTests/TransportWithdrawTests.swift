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

/// Pushes that their caller takes back because devices or wishes have changed.
@Suite struct TransportWithdrawTests {
  @Test("what waits for a connection ends at once and never goes out; its neighbours do")
  func waiting() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let pushes = try rig.pushes(3)
    rig.send(pushes)
    #expect(rig.core.withdraw([pushes[1].tag]) == 0)
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 3 }
    #expect(rig.outcome(pushes[1])?.state == .canceled)
    #expect(rig.outcome(pushes[1])?.reason == .interrupted)
    #expect(rig.outcome(pushes[1])?.attempts == 0)
    #expect(pushes.map { rig.peer.count($0) } == [1, 0, 1])
  }

  @Test("what waits for a permit behind others does not go out")
  func permit() throws {
    let rig = try TransportRig(streams: 1)
    defer { rig.end() }
    let pushes = try rig.pushes(3)
    var isHeld = false
    rig.peer.script = { request, connection in
      isHeld = true
      rig.loop.schedule(after: .seconds(5)) {
        connection.accept(request)
        connection.flush()
      }
    }
    rig.send(pushes)
    rig.run(for: .seconds(60)) { isHeld }
    #expect(rig.core.withdraw(Set(pushes.map(\.tag))) == 1, "the first is written")
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 3 }
    #expect(pushes.map { rig.outcome($0)?.state } == [.accepted, .canceled, .canceled])
    #expect(rig.peer.requests.count == 1)
  }

  @Test("what is written keeps its reply, and is not written again when the peer gives it back")
  func written() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let pushes = [try rig.push(), try rig.push(), try rig.push(collapseID: "c")]
    var held: [ScriptedPeer.Request] = []
    rig.peer.script = { request, _ in held.append(request) }
    rig.send(pushes)
    rig.run(for: .seconds(60)) { held.count == 3 }
    #expect(rig.core.withdraw(Set(pushes.map(\.tag))) == 3)
    let connection = rig.peer.connections[0]
    connection.accept(held[0])
    // The second was not processed, the third may have been.
    connection.goaway(lastStreamID: held[0].stream, code: .noError, debug: [])
    connection.flush()
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count >= 3 }
    #expect(rig.outcome(pushes[0])?.state == .accepted)
    #expect(rig.outcome(pushes[1])?.state == .canceled)
    #expect(rig.outcome(pushes[2])?.state == .canceled)
    #expect(pushes.map { rig.peer.count($0) } == [1, 1, 1])
  }

  @Test("a lost reply of a withdrawn push is not answered by a repeat, collapse id or not") func lost() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let push = try rig.push(collapseID: "c")
    var held: [ScriptedPeer.Request] = []
    rig.peer.script = { request, _ in held.append(request) }
    rig.send([push])
    rig.run(for: .seconds(60)) { held.count == 1 }
    #expect(rig.core.withdraw([push.tag]) == 1)
    rig.peer.connections[0].abort()
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 1 }
    #expect(rig.outcome(push)?.state == .unknown)
    #expect(rig.peer.count(push) == 1)
  }
}
