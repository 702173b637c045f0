import PabalModel
import PabalPrimitives
import ProviderTransport

/// What one run of the bench saw.
struct BenchReport: Sendable {
  private(set) var total = 0
  private(set) var accepted = 0
  private var states: [String: Int] = [:]
  private var reasons: [String: Int] = [:]
  private var longest = Duration.zero
  private var connections = 0
  private var elapsed = Duration.zero

  var isClean: Bool { accepted == total }

  mutating func count(_ outcomes: [APNsOutcome]) {
    total += outcomes.count
    for outcome in outcomes {
      longest = max(longest, outcome.duration)
      if outcome.state == .accepted {
        accepted += 1
      } else {
        states[outcome.state.rawValue, default: 0] += 1
        if let reason = outcome.reason { reasons[reason.rawValue, default: 0] += 1 }
      }
    }
  }

  mutating func add(_ other: BenchReport) {
    total += other.total
    accepted += other.accepted
    longest = max(longest, other.longest)
    states.merge(other.states, uniquingKeysWith: +)
    reasons.merge(other.reasons, uniquingKeysWith: +)
  }

  func finished(after elapsed: Duration, connections: Int) -> BenchReport {
    var report = self
    report.elapsed = elapsed
    report.connections = connections
    return report
  }

  var encoded: [UInt8] {
    let seconds = Double(elapsed.nanosecondsClamped) / 1e9
    let value: JSONValue = [
      "total": .int(Int64(total)), "accepted": .int(Int64(accepted)), "states": table(states),
      "reasons": table(reasons), "connections": .int(Int64(connections)),
      "longestMs": .double(Double(longest.nanosecondsClamped) / 1e6), "seconds": .double(seconds),
      "perSecond": .double(seconds > 0 ? Double(total) / seconds : 0),
    ]
    return value.encoded
  }

  private func table(_ counts: [String: Int]) -> JSONValue {
    .object(counts.sorted { $0.key < $1.key }.map { JSONMember($0.key, .int(Int64($0.value))) })
  }
}
