import APNs
import Cryptography
import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS
import TestSupport
import Testing

/// A server on loopback that holds its answers back, and counts.
private final class HoldingServer: HTTP2ServerHandler {
  struct Counts {
    var requests = 0
    var inside = 0
    var mostInside = 0
  }

  private let counts: Locked<Counts>
  private let loop: any Loop
  private let answers: Bool
  /// Called with the number of requests so far.
  private let onRequest: @Sendable (Int) -> Void

  init(
    counts: Locked<Counts>, loop: any Loop, answers: Bool, onRequest: @escaping @Sendable (Int) -> Void
  ) {
    self.counts = counts
    self.loop = loop
    self.answers = answers
    self.onRequest = onRequest
  }

  func connectionOpened(_ connection: HTTP2ServerConnection) {}
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {}
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    let number = counts.withLock { counts -> Int in
      counts.requests += 1
      counts.inside += 1
      counts.mostInside = max(counts.mostInside, counts.inside)
      return counts.requests
    }
    onRequest(number)
    guard answers else { return }
    // Later than everything that is on its way already.
    loop.schedule(after: .milliseconds(1)) { [counts] in
      counts.withLock { $0.inside -= 1 }
      connection.respond(stream: request.stream, status: 200, headers: [], body: [])
      connection.flush()
    }
  }
}

/// The transport as its callers see it: tasks, real sockets and TLS.
@Suite struct TransportLoopbackTests {
  private func withTransport(
    answers: Bool, _ change: (inout APNsTransportConfiguration) -> Void,
    onRequest: @escaping @Sendable (Int) -> Void = { _ in },
    _ body: (APNsTransport, @Sendable () -> HoldingServer.Counts) async throws -> Void
  ) async throws {
    let authority = try TestAuthority()
    let loop = try UVLoop()
    let counts = Locked(HoldingServer.Counts())
    let serverTLS = try authority.serverContext()
    let held = LoopConfined<HTTP2Listener?>(nil, to: loop.mark)
    let port: UInt16 = await loop.run { done in
      let server = HoldingServer(counts: counts, loop: loop, answers: answers, onRequest: onRequest)
      let listener = HTTP2Listener(loop: loop, tls: serverTLS, handler: server)
      held.value = listener
      done((try? listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))) ?? 0)
    }
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port), serverName: "localhost", tls: try authority.clientContext(),
      credential: try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate()))
    change(&configuration)
    let transport = APNsTransport(configuration: configuration, loop: loop)
    do {
      try await body(transport) { counts.withLock { $0 } }
    } catch {
      Issue.record(error)
    }
    await transport.shutdown(grace: .zero)
    let _: Bool = await loop.run { done in
      held.value?.stop()
      held.value = nil
      done(true)
    }
    loop.stop()
  }

  private func pushes(_ count: Int) throws -> [APNsPush] {
    let randomness = Randomness.seeded(3)
    let payload = try APNsPayload(checking: Array(#"{"aps":{"alert":"x"}}"#.utf8), for: .alert)
    let head = try APNsHead(topic: Topic(rawValue: "com.example.app"), pushType: .alert)
    return try (0..<count).map { index in
      let token = try #require(DeviceToken(bytes: randomness.fill(32)))
      return APNsPush(
        tag: UInt64(index), request: APNsRequest(token: token, head: head, payload: payload),
        apnsID: APNsID(random: randomness))
    }
  }

  @Test("OC-80: 500 sends cancelled by their callers: every one returns once, unknown if written, canceled if not")
  func cancelledCallers() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Int.self)
    try await withTransport(answers: false, { $0.concurrency = 400 }, onRequest: { arrived.yield($0) }) {
      transport, _ in
      let pushes = try pushes(500)
      let outcomes = await withTaskGroup(of: APNsOutcome.self) { group in
        for push in pushes { group.addTask { await transport.send(push) } }
        for await number in arrivals where number == 400 { break }
        group.cancelAll()
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(outcomes.map(\.tag)).count == 500)
      // A push may be written into the place of a cancelled one before its own cancel is heard.
      let unknown = outcomes.count { $0.state == .unknown && $0.reason == .interrupted }
      #expect((400...500).contains(unknown))
      #expect(outcomes.count { $0.state == .canceled && $0.reason == .interrupted } == 500 - unknown)
    }
  }

  @Test("OC-80: every other one of 60 sends is cancelled: its neighbours on the way in go on waiting for their replies")
  func cancelledAmongOthers() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Int.self)
    try await withTransport(answers: false, { _ in }, onRequest: { arrived.yield($0) }) { transport, _ in
      let pushes = try pushes(60)
      let sends = pushes.map { push in Task { await transport.send(push) } }
      for await number in arrivals where number == pushes.count { break }
      for (push, send) in zip(pushes, sends) where push.tag % 2 == 1 {
        send.cancel()
        let outcome = await send.value
        #expect(outcome.tag == push.tag && outcome.state == .unknown && outcome.reason == .interrupted)
      }
      #expect(await transport.withdraw(Set(pushes.map(\.tag))) == 30)
    }
  }

  @Test("OC-80: 500 sends that time out: every one returns once, and the transport goes on")
  func timedOutCallers() async throws {
    try await withTransport(answers: false, { $0.rules.requestTimeout = .milliseconds(300) }) { transport, counts in
      let pushes = try pushes(500)
      let outcomes = await withTaskGroup(of: APNsOutcome.self) { group in
        for push in pushes { group.addTask { await transport.send(push) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(outcomes.map(\.tag)).count == 500)
      #expect(outcomes.allSatisfy { $0.state == .unknown && $0.reason == .replyLost })
      #expect(counts().requests == 500)
    }
  }

  @Test("The queue is bounded: 300 callers, two inside at a time, all served")
  func backPressure() async throws {
    try await withTransport(answers: true, { $0.queueLimit = 2 }) { transport, counts in
      let outcomes = await singly(try pushes(300), over: transport)
      #expect(outcomes.allSatisfy { $0.outcome.state == .accepted && $0.outcome.tag == $0.tag })
      #expect(counts().requests == 300)
      #expect(counts().mostInside <= 2)
    }
  }

  @Test("A push that waits for room is taken back, whatever ends before it; later one of its tag is sent")
  func takenBackWhileWaiting() async throws {
    let (arrivals, arrived) = AsyncStream.makeStream(of: Int.self)
    try await withTransport(
      answers: false,
      {
        $0.queueLimit = 1
        $0.rules.requestTimeout = .seconds(1)
      }, onRequest: { arrived.yield($0) }
    ) { transport, counts in
      let pushes = try pushes(2)
      let first = Task { await transport.send(pushes[0]) }
      for await _ in arrivals { break }
      let second = Task { await transport.send(pushes[1]) }
      #expect(await transport.withdraw([pushes[1].tag]) == 0)
      first.cancel()
      #expect(await first.value.state == .unknown)
      #expect(await second.value.state == .canceled)
      #expect(counts().requests == 1)
      #expect(await transport.send(pushes[1]).reason == .replyLost)
      #expect(counts().requests == 2)
    }
  }

  @Test("Single pushes of 500 tasks are gathered on their way in, and each task gets the outcome of its own push")
  func gathered() async throws {
    try await withTransport(answers: true, { _ in }) { transport, counts in
      let outcomes = await singly(try pushes(500), over: transport)
      #expect(outcomes.count == 500)
      #expect(outcomes.allSatisfy { $0.outcome.state == .accepted && $0.outcome.tag == $0.tag })
      #expect(counts().requests == 500)
    }
  }

  private func singly(
    _ pushes: [APNsPush], over transport: APNsTransport
  ) async -> [(tag: UInt64, outcome: APNsOutcome)] {
    await withTaskGroup(of: (tag: UInt64, outcome: APNsOutcome).self) { group in
      for push in pushes { group.addTask { (push.tag, await transport.send(push)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test("A key replaced under load: 600 pushes from 30 callers, all accepted, none twice")
  func replacedUnderLoad() async throws {
    try await withTransport(answers: true, { $0.pool.connections = 2 }) { transport, counts in
      let pushes = try pushes(600)
      let replacement = try APNsCredential(teamID: "TEAM123456", keyID: "NEWKEY7890", signingKey: .generate())
      let outcomes = await withTaskGroup(of: [APNsOutcome].self) { group in
        for start in stride(from: 0, to: 600, by: 20) {
          group.addTask {
            if start == 300 { transport.replaceCredential(replacement) }
            return await transport.send(Array(pushes[start..<start + 20]))
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      #expect(outcomes.count { $0.state == .accepted && $0.attempts == 1 } == 600)
      #expect(counts().requests == 600)
    }
  }
}
