import Delivery
import PabalModel
import PabalPrimitives

/// Drives a ledger as the transport does, with a peer whose answers are given as a table, and counts what is written.
struct LedgerPeer {
  enum Reply {
    case status(Int, String?)
    case nothing
  }

  var ledger: DeliveryLedger
  var now = at(0)
  var connection: ConnectionKey = 1
  var replies: [String: [Reply]] = [:]
  private(set) var written: [String: Int] = [:]
  private(set) var endings: [String: DeliveryEnding] = [:]
  private(set) var endingsSeen = 0
  private(set) var resets: [String] = []
  private(set) var suspects = 0
  private var names: [PushTag: String] = [:]

  init(rules: DeliveryRules = DeliveryRules(), seed: UInt64 = 1, planted: PlantedBug? = nil) {
    ledger = DeliveryLedger(rules: rules, seed: seed, planted: planted)
    _ = ledger.handle(.reachability(true), now: now)
  }

  @discardableResult
  mutating func admit(_ name: String, _ terms: DeliveryTerms = DeliveryTerms()) -> PushTag {
    let tag = ledger.admit(terms)
    names[tag] = name
    return tag
  }

  mutating func handle(_ event: DeliveryLedger.Event) {
    for action in ledger.handle(event, now: now) {
      switch action {
      case .finished(let ended):
        for ending in ended {
          endingsSeen += 1
          endings[names[ending.tag] ?? "?"] = ending
        }
      case .reset(let tags, _):
        resets += tags.map { names[$0] ?? "?" }
      case .suspect:
        suspects += 1
      }
    }
  }

  /// Takes everything that waits and hands it to the connection; the kernel takes it if asked to.
  @discardableResult
  mutating func submitAll(writes: Bool = true) -> [PushTag] {
    var tags: [PushTag] = []
    while let tag = ledger.firstWaiting(now: now) {
      ledger.takeFirst()
      tags.append(tag)
    }
    handle(.submitted(tags, on: connection))
    if writes {
      handle(.written(tags, on: connection))
      for tag in tags { written[names[tag] ?? "?", default: 0] += 1 }
    }
    return tags
  }

  /// Submits, answers from the table and moves on to the next moment, until nothing is left to happen.
  mutating func run() {
    for _ in 0..<200 where ledger.open > 0 {
      for tag in submitAll() {
        let name = names[tag] ?? "?"
        guard var line = replies[name], !line.isEmpty else { continue }
        let reply = line.count > 1 ? line.removeFirst() : line[0]
        replies[name] = line
        answer(tag, reply)
      }
      guard let wake = ledger.nextWake else { return }
      now = max(now, wake)
      handle(.wake)
    }
  }

  mutating func answer(_ tag: PushTag, _ reply: Reply) {
    guard case .status(let status, let reason) = reply else { return }
    if status == 200 { return handle(.accepted([tag])) }
    let remedy: DeliveryRefusal.Remedy
    switch status {
    case 429, 500, 503: remedy = .later(retryAfter: nil)
    case 403 where reason == "ExpiredProviderToken": remedy = .freshCredential
    default: remedy = .none
    }
    handle(.refused(tag, DeliveryRefusal(reason: .apns(reason ?? "?"), remedy: remedy)))
  }
}
