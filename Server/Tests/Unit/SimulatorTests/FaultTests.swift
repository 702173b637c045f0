import PabalPrimitives
import Simulator
import Testing

@Suite struct FaultTests {
  private func rule(_ effect: FaultRule.Effect, times: Int? = nil, _ match: (inout FaultRule.Match) -> Void = { _ in })
    -> FaultRule
  {
    var matched = FaultRule.Match()
    match(&matched)
    return FaultRule(match: matched, times: times, effect: effect)
  }

  private let busy = FaultRule.Effect.status(503, reason: "ServiceUnavailable", timestamp: nil, taken: false)

  private func statuses(_ bench: inout PushBench, _ count: Int) throws -> [Int?] {
    let token = bench.usual
    return try (0..<count).map { _ in try bench.send(authorization: token).status }
  }

  @Test("times bounds a rule; the first that holds acts") func times() throws {
    var bench = try PushBench()
    let busy = busy
    let slow = FaultRule.Effect.status(429, reason: "TooManyRequests", timestamp: nil, taken: false)
    bench.core.setFaults([rule(busy, times: 2), rule(slow, times: 1)], seed: 1)
    #expect(try statuses(&bench, 4) == [503, 503, 429, 200])
    #expect(bench.core.activeFaults.map(\.fired) == [2, 1])
    #expect(bench.inbox.count == 1)
  }

  @Test("nth and every count the requests that meet the other keys, from the PUT, over all connections")
  func counting() throws {
    var bench = try PushBench()
    try bench.send()
    let other = bench.core.connectionOpened(.sandbox)
    bench.core.setFaults([rule(busy) { ($0.nth, $0.token) = (2, PushBench.token) }], seed: 1)
    let token = bench.usual
    try bench.send(authorization: token) { $0.path = "/3/device/bb" }
    #expect(try bench.send(authorization: token).status == 200)
    #expect(try bench.send(authorization: token, on: other).status == 503)
    #expect(try bench.send(authorization: token).status == 200)

    bench.core.setFaults([rule(busy) { $0.every = 3 }], seed: 1)
    #expect(try statuses(&bench, 7) == [200, 200, 503, 200, 200, 503, 200])
  }

  @Test("later rules count a request that an earlier one took") func countsUnderOthers() throws {
    var bench = try PushBench()
    bench.core.setFaults(
      [
        rule(.status(500, reason: nil, timestamp: nil, taken: false)) { $0.nth = 1 },
        rule(busy) { $0.nth = 2 },
      ], seed: 1)
    #expect(try statuses(&bench, 3) == [500, 503, 200])
  }

  @Test("rate draws from the seed: the same seed, the same pushes") func rate() throws {
    var runs: [[Int?]] = []
    for seed in [7, 7, 8] as [UInt64] {
      var bench = try PushBench()
      bench.core.setFaults([rule(busy) { $0.rate = 0.3 }], seed: seed)
      runs.append(try statuses(&bench, 400))
    }
    #expect(runs[0] == runs[1])
    #expect(runs[0] != runs[2])
    #expect((80...160).contains(runs[0].count { $0 == 503 }))
    var bench = try PushBench()
    bench.core.setFaults([rule(busy) { $0.rate = 0 }], seed: 1)
    #expect(try statuses(&bench, 50).allSatisfy { $0 == 200 })
    bench.core.setFaults([rule(busy) { $0.rate = 1 }], seed: 1)
    #expect(try statuses(&bench, 50).allSatisfy { $0 == 503 })
  }

  @Test("all keys of a match must hold") func matching() throws {
    var bench = try PushBench()
    let path = "/3/device/\(PushBench.hex)"
    let connection = bench.connection.rawValue
    let holding: [(inout FaultRule.Match) -> Void] = [
      { $0.device = "phone" }, { $0.token = PushBench.token }, { $0.environment = .sandbox }, { $0.path = path },
      { $0.connection = connection },
    ]
    let failing: [(inout FaultRule.Match) -> Void] = [
      { $0.device = "other" }, { $0.token = [1] }, { $0.environment = .production }, { $0.path = "/" },
      { $0.connection = 99 },
    ]
    for index in holding.indices {
      bench.core.setFaults([rule(busy, holding[index])], seed: 1)
      #expect(try statuses(&bench, 1) == [503])
      bench.core.setFaults([rule(busy, failing[index])], seed: 1)
      #expect(try statuses(&bench, 1) == [200])
      bench.core.setFaults(
        [
          rule(busy) { match in
            holding.forEach { $0(&match) }; failing[index](&match)
          }
        ], seed: 1)
      #expect(try statuses(&bench, 1) == [200])
    }
  }

  @Test("a status with taken reaches the inbox; a refused push never does") func taken() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.status(500, reason: nil, timestamp: nil, taken: true))], seed: 1)
    let answer = try bench.send()
    #expect(answer.status == 500)
    #expect(answer.reply?.body == [])
    #expect(bench.inbox.count == 1)
    try bench.send { $0.priority = "3" }
    #expect(bench.inbox.count == 1)
    #expect(bench.core.statistics.taken == 1)
  }

  @Test("drop cuts the connection before or after the push is taken, without a reply") func drop() throws {
    for (moment, inbox) in [(FaultRule.Moment.beforeTaken, 0), (.afterTaken, 1)] {
      var bench = try PushBench()
      bench.core.setFaults([rule(.drop(moment), times: 1)], seed: 1)
      let answer = try bench.send()
      #expect(answer.reply == nil)
      #expect(answer.actions.contains { if case .abort(bench.connection) = $0 { true } else { false } })
      #expect(bench.inbox.count == inbox)
      let entry = bench.core.requests(after: 0, limit: 1) { _ in true }.first
      #expect(entry?.status == nil)
      #expect(entry?.faultRule == 0)
      #expect(entry?.taken == (inbox == 1))
      #expect(try bench.send().actions.isEmpty, "the connection is cut")
      bench.connection = bench.core.connectionOpened(.sandbox)
      #expect(try bench.send().status == 200)
    }
  }

  @Test("reset with a code, before or after") func reset() throws {
    for (moment, inbox) in [(FaultRule.Moment.beforeTaken, 0), (.afterTaken, 1)] {
      var bench = try PushBench()
      bench.core.setFaults([rule(.reset(code: 7, moment), times: 1)], seed: 1)
      let answer = try bench.send()
      #expect(answer.reply == nil)
      #expect(
        answer.actions.contains { if case .reset(_, answer.stream, 7) = $0 { true } else { false } })
      #expect(bench.inbox.count == inbox)
      #expect(try bench.send().status == 200, "only the stream is gone")
      #expect(bench.core.statistics.resets == 1)
    }
  }

  private func goaway(_ answer: Answer) -> (last: Int32, debug: String)? {
    for case .goaway(_, let last, let debug) in answer.actions { return (last, String(decoding: debug, as: UTF8.self)) }
    return nil
  }

  @Test("a GOAWAY names the streams that were worked on, and no other is") func goaway() throws {
    let debug = Array(#"{"reason":"Shutdown"}"#.utf8)
    for (lastStream, status, last) in [
      (FaultRule.LastStream.accepted, nil, 3), (.all, 200, 5), (.none, nil, 0),
    ] as [(FaultRule.LastStream, Int?, Int32)] {
      var bench = try PushBench()
      let token = bench.usual
      bench.core.setFaults(
        [rule(.goaway(lastStream: lastStream, debug: debug, close: .drain)) { $0.nth = 3 }], seed: 1)
      try bench.send(authorization: token)
      try bench.send(authorization: token)
      let answer = try bench.send(authorization: token)
      #expect(answer.status == status)
      #expect(goaway(answer)?.last == last)
      #expect(goaway(answer)?.debug == #"{"reason":"Shutdown"}"#)
      #expect(answer.actions.contains { if case .close = $0 { true } else { false } })
      #expect(bench.inbox.count == (status == 200 ? 3 : 2))
      #expect(try bench.send(authorization: token).actions.isEmpty)
      #expect(bench.inbox.count == (status == 200 ? 3 : 2), "nothing above the last stream is taken")
      #expect(bench.core.statistics.goaways == 1)
    }
  }

  @Test("a stream below one that was worked on cannot be named unprocessed") func outOfOrder() throws {
    var bench = try PushBench()
    let token = bench.usual
    bench.core.setFaults(
      [rule(.goaway(lastStream: .accepted, debug: [], close: .never)) { $0.nth = 2 }], seed: 1)
    let call = PushCall(path: "/3/device/\(PushBench.hex)", authorization: token)
    let fifth = StandInRequest(connection: bench.connection, stream: 5, headers: call.headers, body: call.body)
    let third = StandInRequest(connection: bench.connection, stream: 3, headers: call.headers, body: call.body)
    _ = bench.core.handle(fifth)
    let answer = Answer(actions: bench.core.handle(third), stream: 3)
    #expect(answer.status == 200)
    #expect(goaway(answer)?.last == 5)
    #expect(bench.inbox.count == 2)
  }

  @Test("close now cuts, never leaves open") func closing() throws {
    for (close, cut) in [(FaultRule.Closing.now, true), (.never, false)] {
      var bench = try PushBench()
      bench.core.setFaults([rule(.goaway(lastStream: .none, debug: [], close: close))], seed: 1)
      let actions = try bench.send().actions
      #expect(actions.contains { if case .abort = $0 { true } else { false } } == cut)
      #expect(!actions.contains { if case .close = $0 { true } else { false } })
    }
  }

  @Test("a new stream limit comes with the usual reply") func streamLimit() throws {
    var bench = try PushBench()
    bench.core.setFaults([rule(.streamLimit(1), times: 1)], seed: 1)
    let answer = try bench.send()
    #expect(answer.status == 200)
    var limits: [Int] = []
    for case .streamLimit(_, let count) in answer.actions { limits.append(count) }
    #expect(limits.last == 1)
    #expect(bench.core.streamLimit(of: bench.connection) == 1)
  }

  @Test("a delay puts the effect off, silence everything of the connection") func delays() throws {
    var bench = try PushBench()
    bench.core.setFaults([FaultRule(times: 1, effect: .usual, delay: 150)], seed: 1)
    let late = try bench.send()
    guard case .later(150, _)? = late.actions.first else {
      Issue.record("not delayed")
      return
    }
    #expect(late.status == 200)

    bench.core.setFaults([rule(.silence(milliseconds: 1000), times: 1)], seed: 1)
    #expect(try bench.send().actions.contains { if case .later(1000, _) = $0 { true } else { false } })
    bench.clock.advance(by: .milliseconds(400))
    #expect(try bench.send().actions.contains { if case .later(600, _) = $0 { true } else { false } })
    bench.clock.advance(by: .milliseconds(600))
    #expect(try bench.send().actions.allSatisfy { if case .later = $0 { false } else { true } })
  }
}

extension FaultTests {
  @Test("a GOAWAY that names nothing does not call a stream unprocessed whose reply waits") func waitingReplies() throws
  {
    var bench = try PushBench()
    bench.core.setFaults(
      [
        FaultRule(times: 1, effect: .usual, delay: 500),
        FaultRule(effect: .goaway(lastStream: .none, debug: [], close: .never)),
      ], seed: 1)
    let late = try bench.send()
    let answer = try bench.send()
    var last: Int32?
    for case .goaway(_, let named, _) in answer.actions { last = named }
    #expect(last == late.stream)
    #expect(bench.inbox.count == 1)
  }
}
