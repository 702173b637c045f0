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

@Suite struct TransportTests {
  @Test("OC-01: six sends within 10 s carry one byte-identical bearer token; 6 × 200")
  func oneProviderToken() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    var seen: Set<String> = []
    rig.peer.script = { request, connection in
      seen.insert(request.authorization)
      if seen.count == 1 {
        connection.accept(request)
      } else {
        connection.refuse(request, 429, "TooManyProviderTokenUpdates")
      }
    }
    for push in try rig.pushes(6) {
      #expect(rig.sendAndWait([push]).first?.status == 200)
      rig.run(for: .seconds(1.5))
    }
    #expect(seen.count == 1)
    #expect(rig.peer.requests.count == 6)
    #expect(rig.peer.connections.count == 1)
    #expect(seen.first?.hasPrefix("bearer ey") == true)
  }

  @Test("OC-03: two topics alternate on one connection, 10 each: one token")
  func oneTokenForAllTopics() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let pushes = try (0..<20).map { try rig.push(topic: $0 % 2 == 0 ? "com.example.a" : "com.example.b") }
    let outcomes = rig.sendAndWait(pushes)
    #expect(outcomes.allSatisfy { $0.state == .accepted })
    #expect(rig.peer.requests.count { $0.topic == "com.example.b" } == 10)
    #expect(Set(rig.peer.requests.map(\.authorization)).count == 1)
    #expect(rig.peer.connections.count == 1)
  }

  @Test("OC-16: 403 ExpiredProviderToken for ever: one forced re-mint, one re-send; two requests on the wire")
  func expiredProviderToken() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    rig.peer.script = { request, connection in connection.refuse(request, 403, "ExpiredProviderToken") }
    let push = try rig.push()
    let outcome = rig.sendAndWait([push]).first
    #expect(outcome?.state == .rejected)
    #expect(outcome?.reason == .apns("ExpiredProviderToken"))
    #expect(outcome?.verdict == .reauthenticate)
    #expect(rig.peer.requests.count == 2)
    #expect(Set(rig.peer.requests.map(\.authorization)).count == 2)
    // The credential is out of use, and says so to whoever watches.
    #expect(rig.core.statistics.credentialRefusal == .clockSkewSuspected)
  }

  @Test("A refused credential ends what waits, canceled with the provider's word; nothing more is written")
  func refusedCredential() throws {
    let rig = try TransportRig(streams: 1)
    defer { rig.end() }
    rig.peer.script = { request, connection in connection.refuse(request, 403, "InvalidProviderToken") }
    let outcomes = rig.sendAndWait(try rig.pushes(10))
    #expect(outcomes.count == 10)
    #expect(outcomes.count { $0.state == .rejected } == 1)
    #expect(outcomes.count { $0.state == .canceled && $0.reason == .apns("InvalidProviderToken") } == 9)
    #expect(rig.peer.requests.count == 1)
  }

  @Test("OC-18 on the wire: A=1 B=1 C=1 D=3")
  func permanentRejections() throws {
    let rig = try TransportRig()
    defer { rig.end() }
    let pushes = try rig.pushes(4)
    let ids = pushes.map(\.apnsID.description)
    rig.peer.script = { request, connection in
      switch request.apnsID {
      case ids[0]: connection.refuse(request, 400, "BadDeviceToken")
      case ids[1]: connection.refuse(request, 413, "PayloadTooLarge")
      case ids[2]: connection.refuse(request, 403, "TopicDisallowed")
      default:
        let before = rig.peer.requests.count { $0.apnsID == request.apnsID }
        if before <= 2 { connection.refuse(request, 500, "InternalServerError") } else { connection.accept(request) }
      }
    }
    _ = rig.sendAndWait(pushes)
    #expect(pushes.map { rig.peer.count($0) } == [1, 1, 1, 3])
    #expect(pushes.map { rig.outcome($0)?.state } == [.rejected, .rejected, .rejected, .accepted])
    #expect(rig.outcome(pushes[0])?.verdict == .tokenSuspect)
    #expect(rig.outcome(pushes[3])?.attempts == 3)
  }

  @Test("OC-82: SETTINGS 500 → 1 with REFUSED_STREAM for all unanswered → 500: 49 × 200, 1 × 400")
  func settingsShrink() throws {
    let rig = try TransportRig(streams: 500)
    defer { rig.end() }
    var held: [ScriptedPeer.Request] = []
    var hasShrunk = false
    rig.peer.script = { request, connection in
      guard !hasShrunk else {
        #expect(connection.openStreams <= 1 || rig.peer.requests.count > 51)
        connection.accept(request)
        if rig.peer.requests.count == 51 { connection.setMaxConcurrentStreams(500) }
        return
      }
      held.append(request)
      guard held.count == 50 else { return }
      hasShrunk = true
      connection.refuse(held[0], 400, "BadDeviceToken")
      connection.setMaxConcurrentStreams(1)
      for request in held.dropFirst() { connection.reset(stream: request.stream, code: .refusedStream) }
    }
    let outcomes = rig.sendAndWait(try rig.pushes(50))
    #expect(outcomes.count { $0.status == 200 && $0.attempts == 1 } == 49)
    #expect(outcomes.count { $0.status == 400 } == 1)
    #expect(rig.peer.requests.count == 99)
    #expect(rig.peer.connections.count == 1)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("OC-82: limit 0 is a pause; pushes wait and go out when it rises")
  func limitZero() throws {
    let rig = try TransportRig(streams: 10)
    defer { rig.end() }
    _ = rig.sendAndWait(try rig.pushes(1))
    rig.peer.connections[0].setMaxConcurrentStreams(0)
    rig.peer.connections[0].flush()
    rig.run(for: .seconds(1))
    rig.send(try rig.pushes(20))
    rig.run(for: .seconds(20))
    #expect(rig.peer.requests.count == 1)
    rig.peer.connections[0].setMaxConcurrentStreams(10)
    rig.peer.connections[0].flush()
    rig.run(for: .seconds(5)) { rig.sink.outcomes.count == 21 }
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .accepted })
    #expect(rig.peer.connections.count == 1)
  }

  @Test("OC-89: a connection that answers 500 after its 10th request is drained and replaced: 100 × 200")
  func sickConnection() throws {
    let rig = try TransportRig(streams: 20)
    defer { rig.end() }
    var answered: [Int: Int] = [:]
    rig.peer.script = { request, connection in
      answered[request.connection, default: 0] += 1
      if request.connection == 1, answered[1, default: 0] > 10 {
        connection.refuse(request, 500, "InternalServerError")
      } else {
        connection.accept(request)
      }
    }
    let outcomes = rig.sendAndWait(try rig.pushes(100))
    #expect(outcomes.count { $0.status == 200 } == 100)
    #expect(rig.peer.connections.count == 2)
    #expect(answered[1, default: 0] < 50)
  }

  @Test("OC-80: 500 cancelled by the caller, 500 that time out: 1000 outcomes, every stream reset, no permit lost")
  func cancelledAndTimedOut() throws {
    let rig = try TransportRig(streams: 1000)
    defer { rig.end() }
    rig.peer.script = { _, _ in }
    rig.core.take(PushBatch(try rig.pushes(500)), id: 500, for: rig.sink)
    rig.core.take(PushBatch(try rig.pushes(500)), id: 501, for: rig.sink)
    rig.run(for: .seconds(5)) { rig.peer.requests.count == 1000 }
    rig.core.cancel(batch: 500, grace: .zero)
    rig.run(for: .seconds(1))
    #expect(rig.sink.outcomes.count == 500)
    #expect(rig.sink.outcomes.allSatisfy { $0.state == .unknown && $0.reason == .interrupted })
    rig.run(for: .seconds(60)) { rig.sink.outcomes.count == 1000 }
    #expect(rig.sink.outcomes.count == 1000)
    #expect(Set(rig.sink.outcomes.map(\.tag)).count == 1000)
    #expect(rig.sink.outcomes.count { $0.reason == .replyLost } == 500)
    rig.run(for: .seconds(1))
    #expect(rig.peer.resets == 1000)
    #expect(rig.core.open == 0)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("One push of a batch is cancelled: its neighbours are answered")
  func cancelledAmongOthers() throws {
    let rig = try TransportRig(streams: 2)
    defer { rig.end() }
    rig.peer.script = { _, _ in }
    let pushes = try rig.pushes(4)
    rig.core.take(PushBatch(pushes), id: 7, for: rig.sink)
    rig.core.take(PushBatch([try rig.push()]), id: 8, for: rig.sink)
    rig.run(for: .seconds(2)) { rig.peer.requests.count == 2 }
    rig.core.cancel(batch: 7, push: 1, grace: .zero)
    rig.core.cancel(batch: 7, push: 3, grace: .zero)
    rig.peer.script = { request, connection in
      connection.accept(request)
      connection.flush()
    }
    rig.peer.connections[0].accept(rig.peer.requests[0])
    rig.peer.connections[0].flush()
    rig.run(for: .seconds(10)) { rig.sink.outcomes.count == 5 }
    #expect(pushes.map { rig.outcome($0)?.state } == [.accepted, .unknown, .accepted, .canceled])
    #expect(rig.sink.outcomes.count { $0.state == .accepted } == 3)
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("A batch that has ended is cancelled in vain, also when the next one has taken its place")
  func cancelledTooLate() throws {
    let rig = try TransportRig(streams: 2)
    defer { rig.end() }
    rig.core.take(PushBatch([try rig.push()]), id: 7, for: rig.sink)
    rig.run(for: .seconds(2)) { rig.sink.outcomes.count == 1 }
    rig.peer.script = { _, _ in }
    rig.core.take(PushBatch(try rig.pushes(2)), id: 8, for: rig.sink)
    rig.run(for: .seconds(2)) { rig.peer.requests.count == 3 }
    rig.core.cancel(batch: 7, grace: .zero)
    rig.core.cancel(batch: 7, push: 0, grace: .zero)
    rig.run(for: .seconds(1))
    #expect(rig.core.open == 2)
    rig.core.cancel(batch: 8, grace: .zero)
    rig.run(for: .seconds(1))
    #expect(rig.sink.outcomes.map(\.state) == [.accepted, .unknown, .unknown])
    #expect(rig.core.permitsTaken == 0)
  }

  @Test("A stop closes the connections after the last reply, and ends what was never written")
  func shutdown() throws {
    let rig = try TransportRig(streams: 5)
    defer { rig.end() }
    rig.peer.script = { _, _ in }
    rig.send(try rig.pushes(8))
    rig.run(for: .seconds(2)) { rig.peer.requests.count == 5 }
    var isClosed = false
    rig.core.shutdown(grace: .seconds(5)) { isClosed = true }
    rig.run(for: .seconds(1))
    #expect(rig.sink.outcomes.count { $0.state == .canceled } == 3)
    for request in rig.peer.requests.prefix(4) { rig.peer.connections[0].accept(request) }
    rig.peer.connections[0].flush()
    rig.run(for: .seconds(10)) { isClosed }
    #expect(isClosed)
    #expect(rig.sink.outcomes.count { $0.state == .accepted } == 4)
    #expect(rig.sink.outcomes.count { $0.state == .unknown && $0.reason == .interrupted } == 1)
    rig.send(try rig.pushes(1))
    rig.run(for: .seconds(1))
    #expect(rig.sink.outcomes.last?.state == .canceled)
    #expect(rig.peer.connections.count == 1)
  }
}
