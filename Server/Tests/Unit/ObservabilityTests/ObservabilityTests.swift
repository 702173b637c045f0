import Observability
import PabalPrimitives
import Testing

@Suite("Observability")
struct ObservabilityTests {
  private let manual = ManualClock(wall: WallTime(milliseconds: 1_796_086_807_412))

  @Test("An event is one JSON object with its fields in order")
  func jsonLine() {
    let lines = Locked<[String]>([])
    let log = Log(minimumLevel: .info, clock: manual.clock) { event in
      lines.withLock { $0.append(String(decoding: event.json, as: UTF8.self)) }
    }
    log.event("delivery.rejected", "delivery rejected", level: .info, ["reason": "apns.Unregistered", "status": 410])
    log.event("debug.only", "not shown", ["expensive": 1])
    #expect(
      lines.withLock { $0 } == [
        #"{"ts":"2026-12-01T01:00:07.412Z","level":"info","event":"delivery.rejected","msg":"delivery rejected","#
          + #""reason":"apns.Unregistered","status":410}"#
      ])
  }

  @Test("Text for people")
  func textLine() {
    let lines = Locked<[String]>([])
    let log = Log(minimumLevel: .debug, clock: manual.clock) { event in lines.withLock { $0.append(event.text) } }
    log.event("stream.reset", "stream reset", ["code": 8])
    #expect(lines.withLock { $0 } == ["01:00:07.412 debug  stream.reset  stream reset  code=8"])
  }

  @Test("Fields of a silent level are not evaluated")
  func laziness() {
    let evaluated = Locked(false)
    func expensive() -> JSONValue {
      evaluated.withLock { $0 = true }
      return 1
    }
    Log.none.event("a", "b", ["x": expensive()])
    #expect(!evaluated.withLock { $0 })
  }

  @Test("Counters, gauges and histograms in the Prometheus text format")
  func prometheus() {
    let metrics = Metrics([
      .init("pabal_attempts_total", .counter, help: "Requests to a provider.", labels: ["status", "reason"]),
      .init("pabal_up", .gauge, help: "One while running."),
      .init("pabal_wait_seconds", .histogram, help: "Waiting.", buckets: [0.1, 1]),
    ])
    metrics.add(to: "pabal_attempts_total", ["410", "a\"b\\c\nd"])
    metrics.add(2, to: "pabal_attempts_total", ["200", ""])
    metrics.set("pabal_up", to: 1)
    for value in [0.05, 0.1, 0.5, 7] { metrics.observe(value, in: "pabal_wait_seconds") }
    #expect(
      metrics.text == """
        # HELP pabal_attempts_total Requests to a provider.
        # TYPE pabal_attempts_total counter
        pabal_attempts_total{status="200",reason=""} 2
        pabal_attempts_total{status="410",reason="a\\"b\\\\c\\nd"} 1
        # HELP pabal_up One while running.
        # TYPE pabal_up gauge
        pabal_up 1
        # HELP pabal_wait_seconds Waiting.
        # TYPE pabal_wait_seconds histogram
        pabal_wait_seconds_bucket{le="0.1"} 2
        pabal_wait_seconds_bucket{le="1"} 3
        pabal_wait_seconds_bucket{le="+Inf"} 4
        pabal_wait_seconds_sum 7.65
        pabal_wait_seconds_count 4

        """)
  }

  @Test("A metric whose labels run away stops growing")
  func seriesLimit() {
    let metrics = Metrics([.init("m", .counter, help: "h", labels: ["l"])])
    for number in 0..<1100 { metrics.add(to: "m", [String(number)]) }
    #expect(metrics.value(of: "m", ["999"]) == 1)
    #expect(metrics.value(of: "m", ["1000"]) == nil)
    #expect(metrics.text.hasSuffix("\npabal_metrics_dropped_total 100\n"))
  }
}
