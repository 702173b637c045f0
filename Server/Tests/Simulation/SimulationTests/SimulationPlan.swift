import APNs
import PabalModel
import PabalPrimitives
import ProviderTransport
import Simulator

/// What happens in one run, drawn from its seed: who sends what and when, and which faults wait for it.
struct SimulationPlan {
  static let topic = "com.example.app"

  let connections: Int
  let concurrency: Int
  let rules: StandInRules
  let devices: [StandInDeviceDraft]
  /// Named for the count of what was played.
  let faultNames: [String]
  let faults: [FaultRule]
  private(set) var batches: [(delay: Duration, pushes: [APNsPush])] = []
  private(set) var pushes: [APNsPush] = []
  /// When the user presses Ctrl-C, if so.
  let interrupt: Duration?
  /// When the key is replaced, if so.
  let replacement: Duration?
  /// One is drawn for each dial; `nil`: none.
  let networkFaults: [NetworkFault?]
  /// One request in so many begins a farewell of two GOAWAYs.
  let farewellOneIn: Int?
  /// The peer's connection window if it is small, and then the size of every body: of the last that is on its way
  /// before the window is full, all but one byte would fit.
  let window: Int?
  private let bodyBytes: Int?
  let lastStreamID: Int32
  /// Requests may be looked at long after they were sent.
  var readsSlowly: Bool { faultNames.contains("slow read") }
  /// Whether APNs may call every provider token expired.
  let refusesTokens: Bool

  init(drawing draw: inout SeededGenerator) throws {
    connections = Int.random(in: 1...3, using: &draw)
    concurrency = [3, 20, 200].randomElement(using: &draw) ?? 20
    rules = Self.rules(&draw)
    let harmless = [NetworkFault?](repeating: nil, count: [1, 3, 12, 60].randomElement(using: &draw) ?? 12)
    networkFaults = harmless + (Bool.random(using: &draw) ? NetworkFault.allCases : [])
    let isInterrupted = Int.random(in: 0..<8, using: &draw) == 0
    interrupt = isInterrupted ? .milliseconds(Int.random(in: 0...100_000, using: &draw)) : nil
    replacement =
      Int.random(in: 0..<8, using: &draw) == 0 ? .milliseconds(Int.random(in: 0...60_000, using: &draw)) : nil
    farewellOneIn = Int.random(in: 0..<4, using: &draw) == 0 ? [5, 20].randomElement(using: &draw) : nil
    bodyBytes = Int.random(in: 0..<6, using: &draw) == 0 ? Int.random(in: 400...2000, using: &draw) : nil
    window = bodyBytes.map { $0 * 3 + $0 - 1 }
    lastStreamID = Int.random(in: 0..<6, using: &draw) == 0 ? 21 : .max
    devices = Self.devices(&draw)
    var named = Self.faults(&draw)
    // Every run would end like this one; a few are enough.
    refusesTokens = Int.random(in: 0..<16, using: &draw) == 0
    if refusesTokens {
      var rule = FaultRule(effect: .status(403, reason: "ExpiredProviderToken", timestamp: nil, taken: false))
      rule.match.rate = 0.7
      named.insert(("status 403 expired", rule), at: 0)
    }
    faultNames = named.map(\.name)
    faults = named.map(\.rule)
    try drawPushes(&draw)
  }

  private static func rules(_ draw: inout SeededGenerator) -> StandInRules {
    var rules = StandInRules()
    rules.streamsBeforeToken = 1
    rules.streamsAfterToken = [1, 4, 16, 100].randomElement(using: &draw) ?? 16
    rules.streamsAfterError = Bool.random(using: &draw) ? 1 : nil
    rules.errorsBeforeDisconnect = Int.random(in: 0..<4, using: &draw) == 0 ? 5 : nil
    rules.keepsInbox = true
    return rules
  }

  private static func devices(_ draw: inout SeededGenerator) -> [StandInDeviceDraft] {
    (0..<Int.random(in: 5...25, using: &draw)).map { index in
      var device = StandInDeviceDraft(topic: topic)
      device.token = (0..<32).map { UInt8(truncatingIfNeeded: index &* 31 &+ $0) }
      if Int.random(in: 0..<8, using: &draw) == 0 { device.state = .unregistered(at: 1_799_000_000_000) }
      return device
    }
  }

  private static func faults(_ draw: inout SeededGenerator) -> [(name: String, rule: FaultRule)] {
    (0..<Int.random(in: 0...4, using: &draw)).map { _ in
      let (name, effect) = effects.randomElement(using: &draw) ?? effects[0]
      var rule = FaultRule(effect: effect)
      if Bool.random(using: &draw) {
        rule.match.rate = [0.03, 0.1, 0.3].randomElement(using: &draw)
      } else {
        rule.match.every = Int.random(in: 3...15, using: &draw)
      }
      rule.times = Int.random(in: 1...12, using: &draw)
      // A rule that holds replies back beside one that calls everything unprocessed would make the stand-in lie.
      if !name.hasPrefix("goaway"), Int.random(in: 0..<5, using: &draw) == 0 {
        rule.delay = Int.random(in: 1...3000, using: &draw)
      }
      return (name, rule)
    }
  }

  /// Each fault of the work: the name under which it is counted.
  private static let effects: [(String, FaultRule.Effect)] = [
    ("status 429", .status(429, reason: "TooManyRequests", timestamp: nil, taken: false)),
    ("status 500", .status(500, reason: "InternalServerError", timestamp: nil, taken: false)),
    ("status 503", .status(503, reason: "ServiceUnavailable", timestamp: nil, taken: false)),
    ("status 503 taken", .status(503, reason: "ServiceUnavailable", timestamp: nil, taken: true)),
    ("status 503 shutdown", .status(503, reason: "Shutdown", timestamp: nil, taken: false)),
    ("goaway accepted, now", .goaway(lastStream: .accepted, debug: [], close: .now)),
    ("goaway accepted, drain", .goaway(lastStream: .accepted, debug: [], close: .drain)),
    ("goaway accepted, never", .goaway(lastStream: .accepted, debug: [], close: .never)),
    ("goaway none, now", .goaway(lastStream: .none, debug: [], close: .now)),
    ("goaway none, drain", .goaway(lastStream: .none, debug: [], close: .drain)),
    ("goaway none, never", .goaway(lastStream: .none, debug: [], close: .never)),
    ("goaway all, drain", .goaway(lastStream: .all, debug: [], close: .drain)),
    ("goaway all, now", .goaway(lastStream: .all, debug: [], close: .now)),
    ("drop before taken", .drop(.beforeTaken)),
    ("drop after taken", .drop(.afterTaken)),
    ("reset before taken", .reset(code: 0x2, .beforeTaken)),
    ("reset after taken", .reset(code: 0x2, .afterTaken)),
    ("reset refused", .reset(code: 0x7, .beforeTaken)),
    ("reset cancel", .reset(code: 0x8, .beforeTaken)),
    ("reset after headers", .resetAfterHeaders(code: 0x7)),
    ("half reply", .halfReply),
    ("slow read", .slowRead(bytesPerSecond: 2000)),
    ("streams shrink", .streamLimit(1)),
    ("silence", .silence(milliseconds: 40_000)),
  ]

  static let faultKinds =
    effects.map(\.0)
    + ["status 403 expired", "goaway twice", "key replaced", "interrupt", "stream ids run out"]

  private mutating func drawPushes(_ draw: inout SeededGenerator) throws {
    let randomness = Randomness.seeded(draw.next())
    for _ in 0..<Int.random(in: 1...4, using: &draw) {
      let delay = Duration.milliseconds(Int.random(in: 0...90_000, using: &draw))
      let first = pushes.count
      for _ in 0..<Int.random(in: 1...25, using: &draw) {
        pushes.append(try Self.push(tag: UInt64(pushes.count), bodyBytes: bodyBytes, &draw, randomness))
      }
      batches.append((delay, Array(pushes[first...])))
    }
  }

  private static func push(
    tag: UInt64, bodyBytes: Int?, _ draw: inout SeededGenerator, _ randomness: Randomness
  ) throws -> APNsPush {
    let device = UInt8.random(in: 0...25, using: &draw)
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: Int(device) &* 31 &+ $0) }
    guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("32 bytes are a token") }
    let collapses = Int.random(in: 0..<5, using: &draw) == 0
    let head = try APNsHead(
      topic: Topic(rawValue: topic), pushType: .alert, collapseID: collapses ? "story-\(device % 3)" : nil)
    let frame = #"{"aps":{"alert":""}}"#.utf8.count
    let text = String(repeating: "x", count: bodyBytes.map { $0 - frame } ?? Int.random(in: 0...3000, using: &draw))
    let payload = try APNsPayload(checking: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), for: .alert)
    let lifetime: Duration? =
      Int.random(in: 0..<3, using: &draw) == 0 ? .milliseconds(Int.random(in: 100...200_000, using: &draw)) : nil
    let repeats = collapses || Int.random(in: 0..<6, using: &draw) == 0
    let limit = Int.random(in: 1...5, using: &draw)
    return APNsPush(
      tag: tag, request: APNsRequest(token: token, head: head, payload: payload), apnsID: APNsID(random: randomness),
      expiresAt: lifetime.map { SimulatedRun.epoch.advanced(by: $0) }, repeatsUnknown: repeats, attemptLimit: limit)
  }
}
