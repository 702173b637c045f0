import PabalPrimitives

/// The rules of one PUT, with their counters.
///
/// The first rule whose `match` holds and whose `times` is not used up acts. `nth` and `every` count the requests that
/// meet a rule's other keys, over all connections, from 1, since the PUT; `rate` draws from the seed.
struct FaultBook: Sendable {
  struct Facts {
    let connection: Int
    let environment: StandInEnvironment
    let path: String
    let token: [UInt8]?
    let device: String?
  }

  private struct Entry {
    let rule: FaultRule
    var met = 0
    var fired = 0
  }

  private var entries: [Entry] = []
  private var draws = SeededGenerator(seed: 1)
  private(set) var seed: UInt64 = 1
  /// A rule must be found before bodies are in: then all are looked for at that moment, so that their counts agree.
  private(set) var actsOnHeaders = false

  var isEmpty: Bool { entries.isEmpty }
  var fired: [Int] { entries.map(\.fired) }

  init() {}

  init(rules: [FaultRule], seed: UInt64) {
    entries = rules.map { Entry(rule: $0) }
    draws = SeededGenerator(seed: seed)
    self.seed = seed
    actsOnHeaders = rules.contains(where: \.actsOnHeaders)
  }

  /// The rule that acts on a request, and its index.
  mutating func rule(for facts: Facts) -> (index: Int, rule: FaultRule)? {
    var acting: (index: Int, rule: FaultRule)?
    for index in entries.indices where meets(entries[index].rule.match, facts) {
      entries[index].met += 1
      guard acting == nil, isTurn(entries[index].rule.match, count: entries[index].met) else { continue }
      if let times = entries[index].rule.times, entries[index].fired >= times { continue }
      entries[index].fired += 1
      acting = (index, entries[index].rule)
    }
    return acting
  }

  private func meets(_ match: FaultRule.Match, _ facts: Facts) -> Bool {
    if let device = match.device, device != facts.device { return false }
    if let token = match.token, token != facts.token { return false }
    if let environment = match.environment, environment != facts.environment { return false }
    if let path = match.path, path != facts.path { return false }
    if let connection = match.connection, connection != facts.connection { return false }
    return true
  }

  private mutating func isTurn(_ match: FaultRule.Match, count: Int) -> Bool {
    if let nth = match.nth, count != nth { return false }
    if let every = match.every, count % every != 0 { return false }
    guard let rate = match.rate else { return true }
    return Double(draws.next() >> 11) * 0x1p-53 < rate
  }
}
