import APNs
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import Testing

/// The engine against servers that are not ours.
@Suite struct EnginePeerTests {
  @Test("nghttpd takes 2000 pushes on one connection that allows 100 streams, over verified TLS")
  func nghttpd() async throws {
    let tokens = engineTokens(2000)
    let peer = try await EnginePeer.nghttpd(streams: 100, tokens: tokens)
    let outcomes = await peer.transport.send(try enginePushes(tokens))
    let error = await peer.lastError()
    #expect(outcomes.count == 2000)
    #expect(outcomes.allSatisfy { $0.state == .accepted && $0.status == 200 && $0.attempts == 1 }, "\(error)")
    #expect(Set(outcomes.map(\.tag)) == Set(0..<2000))
    #expect(await peer.transport.statistics().requestsWritten == 2000)
    await peer.stop()
  }

  @Test("OC-48: each outcome carries its own push: exactly the tokens that nghttpd does not know are refused")
  func outcomesKeepTheirPush() async throws {
    let tokens = engineTokens(400)
    let known = tokens.enumerated().filter { $0.offset % 7 != 0 }.map(\.element)
    let peer = try await EnginePeer.nghttpd(streams: 50, tokens: known)
    let pushes = try enginePushes(tokens)
    let outcomes = await peer.transport.send(pushes)
    for outcome in outcomes {
      let isKnown = outcome.tag % 7 != 0
      #expect(outcome.state == (isKnown ? .accepted : .rejected))
      #expect(outcome.status == (isKnown ? 200 : 404))
      #expect(outcome.reason == (isKnown ? nil : .apns("404")))
      #expect(outcome.apnsID == pushes[Int(outcome.tag)].apnsID)
    }
    #expect(outcomes.count == 400)
    await peer.stop()
  }

  @Test("OC-94: 200 callers in parallel, every second token unknown: nobody gets a neighbour's answer")
  func parallelCallers() async throws {
    let tokens = engineTokens(200)
    let known = tokens.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let peer = try await EnginePeer.nghttpd(streams: 100, tokens: known)
    let pushes = try enginePushes(tokens)
    let wrong = await withTaskGroup(of: Bool.self) { group in
      for push in pushes {
        group.addTask {
          let outcome = await peer.transport.send(push)
          return outcome.tag != push.tag || outcome.state != (push.tag % 2 == 0 ? .accepted : .rejected)
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wrong == 0)
    await peer.stop()
  }

  @Test("nginx answers 200 before the body is in, then RST_STREAM(NO_ERROR): success for each of 2000 large pushes")
  func nginxAnswersEarly() async throws {
    let tokens = engineTokens(2000)
    let peer = try await EnginePeer.nginx(requests: 1_000_000)
    let outcomes = await peer.transport.send(try enginePushes(tokens, bodyBytes: 4096))
    let error = await peer.lastError()
    #expect(outcomes.count == 2000)
    #expect(outcomes.allSatisfy { $0.state == .accepted && $0.attempts == 1 }, "\(error)")
    await peer.stop()
  }

  @Test("h2o reads each body to its end before it answers: 2000 pushes of 4,096 bytes, each accepted once")
  func h2oReadsBodies() async throws {
    let tokens = engineTokens(2000)
    let peer = try await EnginePeer.h2o()
    let outcomes = await peer.transport.send(try enginePushes(tokens, bodyBytes: 4096))
    let error = await peer.lastError()
    #expect(outcomes.count == 2000)
    #expect(outcomes.allSatisfy { $0.state == .accepted && $0.attempts == 1 }, "\(error)")
    await peer.stop()
  }

  @Test("OC-15: nginx says GOAWAY after each 100 requests: new connections, no failure, nothing written there twice")
  func nginxSaysGoaway() async throws {
    let tokens = engineTokens(1000)
    let peer = try await EnginePeer.nginx(requests: 100)
    let outcomes = await peer.transport.send(try enginePushes(tokens))
    let statistics = await peer.transport.statistics()
    #expect(outcomes.count == 1000)
    #expect(
      outcomes.allSatisfy { $0.state == .accepted && $0.attempts == 1 },
      "\(outcomes.filter { $0.state != .accepted }.prefix(3))")
    #expect(statistics.goaways >= 9)
    #expect(statistics.connectionsDialed >= 10)
    await peer.stop()
  }

  @Test("A list longer than the queue passes through a run; outcomes come in chunks, each push once")
  func aRun() async throws {
    let tokens = engineTokens(3000)
    let peer = try await EnginePeer.nghttpd(streams: 100, tokens: tokens)
    let run = peer.transport.startRun()
    let pushes = try enginePushes(tokens)
    async let submitted: Void = {
      for start in stride(from: 0, to: pushes.count, by: 250) {
        await run.submit(PushBatch(Array(pushes[start..<start + 250])))
      }
      run.finish()
    }()
    var seen: Set<UInt64> = []
    var chunks = 0
    while let outcomes = await run.nextOutcomes() {
      chunks += 1
      for outcome in outcomes {
        #expect(outcome.state == .accepted)
        #expect(seen.insert(outcome.tag).inserted)
      }
    }
    await submitted
    #expect(seen.count == 3000)
    #expect(chunks > 1)
    await peer.stop()
  }

  @Test("A certificate of another authority: no push is written, all end provider_unreachable")
  func wrongAuthority() async throws {
    let peer = try await EnginePeer.nginx(requests: 1000)
    let other = try EngineStranger(port: peer.transport.endpoint.port)
    let outcomes = await other.transport.send(try enginePushes(engineTokens(3)))
    #expect(outcomes.count == 3)
    #expect(outcomes.allSatisfy { $0.state == .expired && $0.reason == .providerUnreachable && $0.attempts == 0 })
    #expect(await other.transport.statistics().requestsWritten == 0)
    await other.stop()
    await peer.stop()
  }
}
