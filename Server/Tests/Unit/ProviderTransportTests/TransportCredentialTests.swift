import APNs
import Cryptography
import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TestSupport
import Testing

/// Provider tokens on the wire, and a credential that is replaced under way.
@Suite struct TransportCredentialTests {
  private func credential(_ keyID: String) throws -> APNsCredential {
    try APNsCredential(teamID: "TEAM123456", keyID: keyID, signingKey: .generate())
  }

  @Test("OC-02: 4 connections, 5 pushes each at once, one token; at T+3300, 50 pushes at once, exactly one new one")
  func oneTokenForAllConnections() throws {
    let rig = try TransportRig(streams: 5) { $0.pool.connections = 4 }
    defer { rig.end() }
    var held: [(ScriptedPeer.Request, HTTP2ServerConnection)] = []
    rig.peer.script = { request, connection in
      held.append((request, connection))
      guard held.count == 20 || rig.peer.requests.count > 20 else { return }
      for (request, connection) in held {
        connection.accept(request)
        connection.flush()
      }
      held = []
    }
    #expect(rig.sendAndWait(try rig.pushes(20)).count { $0.state == .accepted } == 20)
    #expect(Set(rig.peer.requests.map(\.connection)) == [1, 2, 3, 4])
    #expect(Set(rig.peer.requests.map(\.authorization)).count == 1)
    rig.run(for: .seconds(3300))
    #expect(rig.sendAndWait(try rig.pushes(50)).count { $0.state == .accepted } == 50)
    #expect(Set(rig.peer.requests.map(\.authorization)).count == 2)
    #expect(Set(rig.peer.requests.dropFirst(20).map(\.authorization)).count == 1)
  }

  @Test("OC-04: our clock is 3700 s behind: 20 pushes in 60 s, one re-mint, clock_skew_suspected, nobody sees 429")
  func clockSkew() throws {
    let rig = try TransportRig { configuration in
      let (wall, monotonic) = (configuration.clock.wall, configuration.clock.monotonic)
      configuration.clock = Clock(monotonic: monotonic, wall: { wall().advanced(by: .seconds(-3700)) })
    }
    defer { rig.end() }
    var seen: Set<String> = []
    rig.peer.script = { request, connection in
      seen.insert(request.authorization)
      // Two distinct tokens are the first and one change.
      if seen.count > 2 {
        connection.refuse(request, 429, "TooManyProviderTokenUpdates")
      } else {
        connection.refuse(request, 403, "ExpiredProviderToken")
      }
    }
    for _ in 0..<20 {
      rig.send([try rig.push()])
      rig.run(for: .seconds(3))
    }
    let outcomes = rig.sink.outcomes
    #expect(outcomes.count == 20)
    #expect(seen.count == 2)
    #expect(!outcomes.contains { $0.status == 429 })
    #expect(outcomes.first?.reason == .apns("ExpiredProviderToken"))
    #expect(outcomes.dropFirst().allSatisfy { $0.state == .canceled && $0.reason == .clockSkewSuspected })
    #expect(rig.core.statistics.credentialRefusal == .clockSkewSuspected)
    #expect(rig.peer.requests.count == 2)
  }

  @Test("A key replaced while 200 pushes are under way: none lost, none twice; the new token on connections of its own")
  func replacedWhileSending() throws {
    let rig = try TransportRig(streams: 10) { $0.pool.connections = 2 }
    defer { rig.end() }
    var tokens: [Int: Set<String>] = [:]
    var held: [(ScriptedPeer.Request, HTTP2ServerConnection)] = []
    rig.peer.script = { request, connection in
      tokens[request.connection, default: []].insert(request.authorization)
      held.append((request, connection))
      rig.loop.schedule(after: .milliseconds(40)) {
        connection.accept(request)
        connection.flush()
      }
    }
    let pushes = try rig.pushes(200)
    rig.send(pushes)
    rig.run(for: .seconds(5)) { rig.peer.requests.count >= 60 }
    let before = rig.peer.connections.count
    rig.core.replaceCredential(try credential("NEWKEY7890"))
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 200 }
    #expect(rig.sink.outcomes.count { $0.state == .accepted && $0.attempts == 1 } == 200)
    #expect(pushes.allSatisfy { rig.peer.count($0) == 1 })
    #expect(rig.peer.connections.count == before + 2)
    #expect(tokens.values.allSatisfy { $0.count == 1 })
    #expect(Set(tokens.values.joined()).count == 2)
    rig.run(for: .seconds(3))
    #expect(rig.core.statistics.connectionsReady == 2)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("A refused key is replaced: what it was asked for before has ended, the next push goes out with the new one")
  func replacedAfterRefusal() throws {
    let rig = try TransportRig(streams: 1)
    defer { rig.end() }
    rig.peer.script = { request, connection in
      if request.connection == 1 {
        connection.refuse(request, 403, "InvalidProviderToken")
      } else {
        connection.accept(request)
      }
    }
    #expect(rig.sendAndWait(try rig.pushes(3)).allSatisfy { $0.state != .accepted })
    rig.run(for: .seconds(1))
    #expect(rig.core.statistics.credentialRefusal == .apns("InvalidProviderToken"))
    rig.core.replaceCredential(try credential("NEWKEY7890"))
    #expect(rig.sendAndWait(try rig.pushes(3)).allSatisfy { $0.state == .accepted })
    #expect(rig.core.statistics.credentialRefusal == nil)
  }

  @Test("A refusal of the old key that comes after the replacement concerns the old key: the push is sent with the new")
  func lateRefusal() throws {
    let rig = try TransportRig(streams: 4)
    defer { rig.end() }
    var held: [(ScriptedPeer.Request, HTTP2ServerConnection)] = []
    rig.peer.script = { request, connection in
      if request.connection == 1 { held.append((request, connection)) } else { connection.accept(request) }
    }
    let pushes = try rig.pushes(4)
    rig.send(pushes)
    rig.run(for: .seconds(2)) { held.count == 4 }
    rig.core.replaceCredential(try credential("NEWKEY7890"))
    for (index, (request, connection)) in held.enumerated() {
      connection.refuse(request, 403, index % 2 == 0 ? "InvalidProviderToken" : "ExpiredProviderToken")
      connection.flush()
    }
    rig.run(for: .seconds(10)) { rig.sink.outcomes.count == 4 }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .accepted && $0.connection == 2 })
    #expect(pushes.allSatisfy { rig.peer.count($0) == 2 })
    #expect(rig.core.statistics.credentialRefusal == nil)
  }

  @Test("Replaced while the dial is under way: that dial is given up, the pushes go out with the new key")
  func replacedWhileDialling() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.loop.onConnect = { if $0.number == 0 { $0.dial = .swallowed } }
    rig.send(try rig.pushes(5))
    rig.run(for: .seconds(1))
    rig.core.replaceCredential(try credential("NEWKEY7890"))
    rig.run(for: .seconds(1)) { rig.sink.outcomes.count == 5 }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .accepted })
    #expect(rig.core.statistics.connectionsDialed == 2)
  }
}
