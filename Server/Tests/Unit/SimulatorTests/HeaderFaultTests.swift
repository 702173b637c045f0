import PabalPrimitives
import Simulator
import Testing

/// Faults that act before a request is whole, and what a new set of rules lets go.
@Suite struct HeaderFaultTests {
  private func rule(_ effect: FaultRule.Effect, nth: Int? = nil, times: Int? = nil, delay: Int = 0) -> FaultRule {
    var match = FaultRule.Match()
    match.nth = nth
    return FaultRule(match: match, times: times, effect: effect, delay: delay)
  }

  private func request(_ bench: PushBench, _ stream: Int32, whole: Bool) -> StandInRequest {
    let call = PushCall(path: "/3/device/\(PushBench.hex)", authorization: bench.usual)
    return StandInRequest(
      connection: bench.connection, stream: stream, headers: call.headers, body: whole ? call.body : [])
  }

  private func push(_ bench: inout PushBench, _ stream: Int32) -> (headers: [StandInAction], whole: Answer) {
    let headers = bench.core.headersReceived(request(bench, stream, whole: false))
    let whole = Answer(actions: bench.core.handle(request(bench, stream, whole: true)), stream: stream)
    bench.core.streamClosed(stream, on: bench.connection)
    return (headers, whole)
  }

  @Test("reset after headers: the body is not looked at, the rules count each request once") func headersReset() throws
  {
    var bench = try PushBench()
    bench.core.setFaults(
      [
        rule(.resetAfterHeaders(code: 8), nth: 2),
        rule(.status(503, reason: "Shutdown", timestamp: nil, taken: false), nth: 4),
      ], seed: 1)
    #expect(bench.core.watchesHeaders)
    #expect(push(&bench, 1).whole.status == 200)
    let second = push(&bench, 3)
    #expect(second.headers.contains { if case .reset(bench.connection, 3, 8) = $0 { true } else { false } })
    #expect(second.whole.actions.isEmpty)
    #expect(push(&bench, 5).whole.status == 200)
    #expect(push(&bench, 7).whole.status == 503)
    #expect(push(&bench, 9).whole.status == 200)
    #expect(bench.inbox.count == 3)
    #expect(bench.core.statistics.requests == 5)
    #expect(bench.core.statistics.resets == 1)
    #expect(bench.core.activeFaults.map(\.fired) == [1, 1])
    let entry = bench.core.requests(after: 0, limit: 10) { $0.stream == 3 }.first
    #expect(entry?.faultRule == 0)
    #expect(entry?.status == nil)
    #expect(entry?.taken == false)
    #expect(entry?.bodyBytes == 0)
  }

  @Test("a reset after headers may come late; the body that comes meanwhile is not looked at") func lateReset() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.resetAfterHeaders(code: 0), times: 1, delay: 40)], seed: 1)
    let first = push(&bench, 1)
    guard case .later(40, let inner)? = first.headers.first, case .reset(_, 1, 0)? = inner.first else {
      Issue.record("not delayed: \(first.headers)")
      return
    }
    #expect(first.whole.actions.isEmpty)
    #expect(bench.inbox.isEmpty)
  }

  @Test("slow reading begins with the request's own body, and ends with the rule") func slowRead() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.slowRead(bytesPerSecond: 100))], seed: 1)
    let first = push(&bench, 1)
    #expect(
      first.headers.contains { if case .readRate(bench.connection, 100) = $0 { true } else { false } })
    #expect(first.whole.status == 200)
    #expect(push(&bench, 3).headers.isEmpty, "it is read slowly already")
    #expect(bench.core.activeFaults.map(\.fired) == [2])
    let released = bench.core.setFaults([], seed: 1)
    #expect(released.contains { if case .readRate(bench.connection, nil) = $0 { true } else { false } })
    #expect(bench.core.setFaults([], seed: 1).isEmpty)
    #expect(!bench.core.watchesHeaders)
  }

  @Test("half a response: the usual verdict, half of its body, no end") func half() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.halfReply, times: 2, delay: 5)], seed: 1)
    let good = try bench.send()
    guard case .later(5, let inner)? = good.actions.first, case .halfReply(_, good.stream, let reply)? = inner.first
    else {
      Issue.record("no half reply: \(good.actions)")
      return
    }
    #expect(reply.status == 200)
    #expect(reply.body.isEmpty)
    #expect(bench.inbox.count == 1)
    let bad = try bench.send { $0.priority = "3" }
    guard case .later(_, let further)? = bad.actions.first, case .halfReply(_, _, let half)? = further.first else {
      Issue.record("no half reply: \(bad.actions)")
      return
    }
    #expect(String(decoding: half.body, as: UTF8.self) == #"{"reason":"B"#)
    #expect(half.body.count == #"{"reason":"BadPriority"}"#.utf8.count / 2)
    #expect(try bench.send().status == 200)
  }

  @Test("OC-82 streams 1, N, 0 by a rule, and N again when the rules are replaced") func streamLimits() throws {
    var bench = try PushBench()
    let limit = { (bench: PushBench) in bench.core.streamLimit(of: bench.connection) }
    #expect(limit(bench) == 1)
    try bench.send()
    #expect(limit(bench) == 1000)
    bench.core.setFaults([rule(.streamLimit(0), times: 1)], seed: 1)
    #expect(try bench.send().status == 200)
    #expect(limit(bench) == 0)
    let released = bench.core.setFaults([], seed: 1)
    #expect(released.contains { if case .streamLimit(bench.connection, 1000) = $0 { true } else { false } })
    #expect(limit(bench) == 1000)
  }

  @Test("a connection that replaced rules kept silent speaks again") func silence() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.silence(milliseconds: 60_000), times: 1)], seed: 1)
    try bench.send()
    bench.core.setFaults([], seed: 1)
    #expect(try bench.send().actions.allSatisfy { if case .later = $0 { false } else { true } })
  }

  @Test("a header section that was cut is 431, and nothing of it is believed") func endlessHeaders() throws {
    var bench = try PushBench()
    let whole = request(bench, 1, whole: true)
    let cut = StandInRequest(
      connection: bench.connection, stream: 1, headers: whole.headers, body: whole.body, headersWereCut: true)
    let answer = Answer(actions: bench.core.handle(cut), stream: 1)
    #expect(answer.status == 431)
    #expect(answer.reply?.body == [])
    #expect(bench.inbox.isEmpty)
    #expect(try bench.send().status == 200)
  }
}
