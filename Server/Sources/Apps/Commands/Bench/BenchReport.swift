import ArgumentParsing
import PabalModel
import PabalPrimitives
import ProviderTransport

/// What one run of `pabal bench apns` saw.
struct BenchReport: Sendable {
  private(set) var total = 0
  private(set) var accepted = 0
  private var states: [String: Int] = [:]
  private var reasons: [String: Int] = [:]
  private var latency = LatencyHistogram()
  var connections = 0
  var elapsed = Duration.zero
  /// Of the whole process, user and system, while it sent.
  var processorTime = Duration.zero
  /// No connection ever came up.
  var wasUnreachable = false
  var lastError: String?

  var exitCode: ExitCode { accepted == total ? .done : wasUnreachable ? .unreachable : .partial }

  mutating func count(_ outcomes: [APNsOutcome]) {
    for outcome in outcomes { count(outcome) }
  }

  mutating func count(_ outcome: APNsOutcome) {
    total += 1
    latency.add(nanoseconds: outcome.nanoseconds)
    guard outcome.state != .accepted else {
      accepted += 1
      return
    }
    states[outcome.state.rawValue, default: 0] += 1
    if let reason = outcome.reason { reasons[reason.rawValue, default: 0] += 1 }
  }

  mutating func add(_ other: BenchReport) {
    total += other.total
    accepted += other.accepted
    latency.add(other.latency)
    states.merge(other.states, uniquingKeysWith: +)
    reasons.merge(other.reasons, uniquingKeysWith: +)
  }

  private var seconds: Double { Double(elapsed.nanosecondsClamped) / 1e9 }
  private var perSecond: Double { seconds > 0 ? Double(total) / seconds : 0 }
  private var processorSeconds: Double { Double(processorTime.nanosecondsClamped) / 1e9 }

  var json: JSONValue {
    [
      "object": .string("bench"), "total": .int(Int64(total)), "accepted": .int(Int64(accepted)),
      "states": table(states), "reasons": table(reasons), "connections": .int(Int64(connections)),
      "seconds": .double(seconds), "perSecond": .double(perSecond), "cpuSeconds": .double(processorSeconds),
      "medianMs": milliseconds(latency.quantile(0.5)), "p99Ms": milliseconds(latency.quantile(0.99)),
      "longestMs": milliseconds(latency.longestMicroseconds),
    ]
  }

  /// For people.
  var lines: [String] {
    func text(_ microseconds: Int) -> String { "\(Double(microseconds / 100) / 10) ms" }
    let each = total > 0 ? "\(Int(processorSeconds * 1e6) / total) µs each" : "nothing sent"
    var lines = [
      "\(accepted) of \(total) accepted in \(Int(seconds * 1000)) ms over \(connections) connections: "
        + "\(Int(perSecond)) a second",
      "processor time \(Int(processorSeconds * 1000)) ms, \(each)",
      "latency: median \(text(latency.quantile(0.5))), 99 % \(text(latency.quantile(0.99))), "
        + "longest \(text(latency.longestMicroseconds))",
    ]
    for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) { lines.append("  \(count) × \(reason)") }
    if let lastError { lines.append("last error of a connection: \(lastError)") }
    return lines
  }

  private func milliseconds(_ microseconds: Int) -> JSONValue { .double(Double(microseconds) / 1000) }

  private func table(_ counts: [String: Int]) -> JSONValue {
    .object(counts.sorted { $0.key < $1.key }.map { JSONMember($0.key, .int(Int64($0.value))) })
  }
}
