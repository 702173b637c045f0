import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport
import Simulator
import TestSupport

/// All that can be known of a run when it is over.
struct SimulationEvidence {
  let plan: SimulationPlan
  let outcomes: [(outcome: APNsOutcome, at: Instant)]
  let core: StandInCore
  let permitsTaken: Int
  let open: Int
  let faults: [String: Int]
  let networkTrace: UInt64
  let watch: WireWatch
  let givenUp: [TwiceGoaway.GivenUp]
  /// Provider tokens that were asked for.
  let mints: Int
  let elapsed: Duration
}

/// What one run showed, judged from the stand-in's own record and from the wire.
struct SimulationFinding {
  /// Sentences; empty when all invariants held.
  private(set) var violations: [String] = []
  private(set) var states: [String: Int] = [:]
  private(set) var faults: [String: Int] = [:]
  private(set) var trace: UInt64 = 0
  private(set) var repeats = 0

  private let plan: SimulationPlan
  private let core: StandInCore

  init(evidence: SimulationEvidence) {
    plan = evidence.plan
    core = evidence.core
    let outcomes = evidence.outcomes.map(\.outcome)
    let log = core.requests(after: 0, limit: .max) { _ in true }
    trace = Self.hash(outcomes, log) ^ evidence.networkTrace
    faults = evidence.faults
    for (name, rule) in zip(plan.faultNames, core.activeFaults) where rule.fired > 0 {
      faults[name, default: 0] += rule.fired
    }
    for outcome in outcomes { states[outcome.state.rawValue, default: 0] += 1 }
    var wire: [String: [WireLogEntry]] = [:]
    for entry in log {
      guard let id = entry.headers.first(where: { $0.name == "apns-id" })?.value else { continue }
      wire[id, default: []].append(entry)
    }
    let byTag = Dictionary(grouping: outcomes, by: \.tag)
    for push in plan.pushes {
      let seen = byTag[push.tag] ?? []
      guard let outcome = seen.first, seen.count == 1 else {
        violations.append("push \(push.tag) has \(seen.count) outcomes")
        continue
      }
      let entries = wire[push.apnsID.description] ?? []
      repeats += max(0, entries.count - 1)
      judge(push, outcome, entries)
      judgeRepeats(push, entries)
    }
    judgeWhole(evidence)
  }

  private mutating func judgeWhole(_ evidence: SimulationEvidence) {
    if evidence.open != 0 { violations.append("\(evidence.open) pushes are still open") }
    if evidence.permitsTaken != 0 { violations.append("\(evidence.permitsTaken) permits are taken with nothing open") }
    if evidence.watch.splitBodies > 0 { violations.append("\(evidence.watch.splitBodies) bodies were split") }
    // One token for each key; where APNs calls all of them expired, one replacement in 20 minutes.
    let windows = 1 + Int(evidence.elapsed / ProviderTokenMachine.updateInterval)
    let allowed = (plan.replacement == nil ? 1 : 2) * (plan.refusesTokens ? 2 * windows : 1)
    if evidence.mints > allowed { violations.append("\(evidence.mints) provider tokens, \(allowed) are allowed") }
    // One that may be repeated can have been lost before the GOAWAY, and have waited for its repeat.
    let byID = Dictionary(
      plan.pushes.filter { !$0.terms.repeatsUnknown }.map { ($0.apnsID.description, $0.tag) }
    ) { first, _ in first }
    let ends = Dictionary(evidence.outcomes.map { ($0.outcome.tag, $0) }) { first, _ in first }
    for given in evidence.givenUp {
      guard let tag = byID[given.apnsID], let (outcome, at) = ends[tag], outcome.state == .unknown,
        outcome.connection == given.connection + 1,
        let known = evidence.watch.gaveUp(given.stream, on: given.connection), known < at
      else { continue }
      violations.append("push \(tag) was given up by GOAWAY and ended \(outcome.state)")
    }
  }

  /// The outcome says what happened on the wire.
  private mutating func judge(_ push: APNsPush, _ outcome: APNsOutcome, _ entries: [WireLogEntry]) {
    func fail(_ what: String) {
      violations.append("push \(push.tag) \(outcome.state) \(outcome.reason?.rawValue ?? "-"): \(what)")
    }
    let taken = entries.filter(\.taken)
    switch outcome.state {
    case .accepted:
      if !entries.contains(where: { $0.taken && $0.status == 200 }) { fail("APNs never took it") }
    case .rejected:
      if entries.last?.status != outcome.status || outcome.status == nil { fail("the last reply says otherwise") }
      if let status = outcome.status, status == 429 || status >= 500 { fail("\(status) is not final") }
      if !taken.isEmpty, !push.terms.repeatsUnknown { fail("APNs took it") }
    case .expired, .canceled:
      if taken.contains(where: { $0.status == 200 || $0.status == nil }), !push.terms.repeatsUnknown {
        fail("APNs took it")
      }
      if outcome.attempts == 0, !taken.isEmpty { fail("never written, it says") }
    case .unknown:
      if outcome.attempts == 0 { fail("never written, it says") }
    case .queued, .held, .sending, .retrying, .suppressed:
      fail("not a state of the engine's")
    }
    let latest = plan.readsSlowly ? nil : push.terms.expiresAt.map { $0.milliseconds + 5000 }
    if let latest, let late = entries.first(where: { $0.at > latest }) {
      fail("sent \(late.at - latest) ms after its time")
    }
    // Pushes that were not processed are repeated freely; answered ones within their limit, a lost one once.
    let answered = entries.filter { $0.status == 429 || ($0.status ?? 0) >= 500 }
    if answered.count > push.terms.attemptLimit + 1 { fail("\(answered.count) answers to repeat on") }
  }

  /// A push that was taken is on the wire again only if its reply was a 5xx, or lost and the caller allows the repeat.
  private mutating func judgeRepeats(_ push: APNsPush, _ entries: [WireLogEntry]) {
    var lost = 0
    for entry in entries.dropLast() where entry.taken && (entry.status ?? 0) < 500 { lost += 1 }
    if lost > (push.terms.repeatsUnknown ? 1 : 0) {
      violations.append("push \(push.tag) was taken and sent again (\(lost) times)")
    }
  }

  private static func hash(_ outcomes: [APNsOutcome], _ log: [WireLogEntry]) -> UInt64 {
    var hash = TraceHash()
    for outcome in outcomes {
      hash.add(
        "\(outcome.tag) \(outcome.state) \(outcome.status ?? 0) \(outcome.reason?.rawValue ?? "") \(outcome.attempts) "
          + "\(outcome.duration.nanosecondsClamped) \(outcome.connection)")
    }
    for entry in log {
      hash.add("\(entry.connection.rawValue) \(entry.stream) \(entry.status ?? 0) \(entry.at) \(entry.bodyBytes)")
      for header in entry.headers { hash.add("\(header.name) \(header.value)") }
    }
    return hash.value
  }
}
