import ArgumentParsing
import PabalModel
import PabalPrimitives

/// Counts over a whole run.
struct SendSummary {
  private(set) var total = 0
  private(set) var states: [DeliveryState: Int] = [:]
  private(set) var reasons: [ReasonCode: Int] = [:]
  /// Lines that an earlier run has brought to an end.
  private(set) var earlier = 0
  /// Repeated tokens of the list; `nil`: nobody counted.
  var duplicates: Int?
  var connections = 0
  var duration = Duration.zero
  var wasInterrupted = false
  /// No connection came up, so no request byte was written.
  var wasUnreachable = false

  /// The order of the summary's states.
  static let shown: [DeliveryState] = [.accepted, .rejected, .expired, .unknown, .canceled]

  mutating func count(_ line: OutcomeLine) {
    total += 1
    states[line.state, default: 0] += 1
    if let reason = line.reason { reasons[reason, default: 0] += 1 }
  }

  mutating func count(_ found: JournalState) {
    for (ending, count) in found.counts {
      total += count
      earlier += count
      states[ending.state, default: 0] += count
      if let reason = ending.reason { reasons[reason, default: 0] += count }
    }
  }

  /// Repeated tokens that were left out on request are no failure.
  var exitCode: ExitCode {
    if wasInterrupted { return .interrupted }
    let leftOut = reasons[.duplicate] ?? 0
    if (states[.accepted] ?? 0) + leftOut == total { return .done }
    return wasUnreachable ? .unreachable : .partial
  }

  var sortedReasons: [(ReasonCode, Int)] {
    reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
  }

  var json: JSONValue {
    [
      "object": "summary",
      "total": JSONValue(total),
      "states": .object(Self.shown.map { JSONMember($0.rawValue, JSONValue(states[$0] ?? 0)) }),
      "reasons": .object(sortedReasons.map { JSONMember($0.0.rawValue, JSONValue($0.1)) }),
      "duplicates": JSONValue(duplicates),
      "connections": JSONValue(connections),
      "seconds": .double(seconds),
      "perSecond": JSONValue(perSecond),
    ]
  }

  var seconds: Double {
    Double(duration.nanosecondsClamped / 1_000_000) / 1000
  }

  private var perSecond: Int {
    let now = total - earlier
    return seconds > 0 ? Int(Double(now) / seconds) : now
  }
}
