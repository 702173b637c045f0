import APNs
import Cryptography
import Delivery
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import Simulator
import TestSupport

/// One run drawn from a seed: production's transport, machines and HTTP/2 sessions on one side, the stand-in on the
/// other, between them a network of scripted bytes in virtual time. Only network, clock and randomness are replaced.
final class SimulatedRun {
  static let epoch = WallTime(milliseconds: 1_800_000_000_000)
  /// Virtual time after which an open push counts as stuck: beyond every deadline, retry and request timeout drawn.
  static let patience = Duration.seconds(1800)
  private static let teamID = "TEAM123456"
  /// The second one comes when the key is replaced.
  private static let keyIDs = ["KEY1234567", "NEWKEY7890"]

  let seed: UInt64
  let loop: ScriptedLoop
  let plan: SimulationPlan
  let standIn: Locked<StandInCore>
  let transport: TransportCore
  private let listener: HTTP2Listener
  private let front: TwiceGoaway
  private let watch: WireWatch
  private let sink: OutcomeRecorder
  private let counter = NetworkFaultCounter()
  private let mints: Locked<Int>
  private let replacement: APNsCredential

  init(seed: UInt64, planted: PlantedBug? = nil) throws {
    self.seed = seed
    let loop = ScriptedLoop(seed: seed)
    self.loop = loop
    let clock = loop.clock
    var draw = SeededGenerator(seed: seed &* 0x9E37_79B9)
    plan = try SimulationPlan(drawing: &draw)
    standIn = Locked(try Self.standIn(plan, clock, seed: seed))
    let watch = WireWatch(loop: loop)
    self.watch = watch
    sink = OutcomeRecorder(clock: clock)
    front = TwiceGoaway(
      StandInService(core: standIn, environment: .sandbox, loop: loop), watch: watch, loop: loop,
      oneIn: plan.farewellOneIn, seed: draw.next())
    var server = StandInService.configuration(plan.rules)
    if let window = plan.window { server.connectionWindow = window }
    listener = HTTP2Listener(loop: loop, tls: nil, configuration: server, handler: front)
    let port = try listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))
    let mints = Locked(0)
    self.mints = mints
    replacement = try Self.credential(Self.keyIDs[1], mints)
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port), tls: nil,
      credential: try Self.credential(Self.keyIDs[0], mints), clock: clock, randomness: .seeded(seed))
    configuration.pool.connections = plan.connections
    configuration.concurrency = plan.concurrency
    configuration.lastStreamID = plan.lastStreamID
    configuration.planted = planted
    transport = TransportCore(configuration: configuration, loop: loop)
    let plan = plan
    var chance = SeededGenerator(seed: draw.next())
    loop.onConnect = { [counter] connection in
      watch.watch(connection)
      guard let fault = plan.networkFaults.randomElement(using: &chance), let fault else { return }
      counter.count(fault)
      fault.apply(to: connection, &chance)
    }
  }

  deinit { loop.end() }

  private static func standIn(_ plan: SimulationPlan, _ clock: Clock, seed: UInt64) throws -> StandInCore {
    let keys = keyIDs.map { StandInKey(keyID: $0, teamID: teamID, verifies: { _, _ in true }) }
    var core = StandInCore(
      keys: keys, bundles: [SimulationPlan.topic], rules: plan.rules, clock: clock, randomness: .seeded(seed),
      digest: { String($0.utf8.reduce(into: TraceHash()) { $0.add($1) }.value) })
    for device in plan.devices { _ = try core.addDevice(device) }
    core.setFaults(plan.faults, seed: seed)
    return core
  }

  private static func credential(_ keyID: String, _ mints: Locked<Int>) throws -> APNsCredential {
    var credential = try APNsTokenCredential(teamID: teamID, keyID: keyID, signingKey: .generate())
    credential.tokenSource = { now, _ in
      let number = mints.withLock { count -> Int in
        count += 1
        return count
      }
      return Self.token(keyID, issuedAt: now, number: number)
    }
    return .token(credential)
  }

  /// A token of the right form whose signature is the same in each run.
  private static func token(_ keyID: String, issuedAt now: WallTime, number: Int) -> String {
    let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
    let claims: JSONValue = ["iss": .string(teamID), "iat": .int(now.seconds)]
    let signature = Randomness.seeded(UInt64(now.seconds) &* 1000 &+ UInt64(number)).fill(64)
    return [header.encoded, claims.encoded, signature].map { Base64URL.encode($0) }.joined(separator: ".")
  }

  /// Runs to the end of virtual time or of all pushes, whichever comes first, and judges. What the loop still has to do
  /// then must not hold the run, since the loop ends with it.
  func finish() -> SimulationFinding {
    var next: UInt64 = 1
    for (delay, pushes) in plan.batches {
      let (batch, id) = (PushBatch(pushes), next)
      next += 1
      loop.schedule(after: delay) { [transport, sink] in transport.take(batch, id: id, for: sink) }
    }
    if let interrupt = plan.interrupt {
      loop.schedule(after: interrupt) { [transport] in transport.cancelAll(grace: .seconds(5)) }
    }
    if let replaced = plan.replacement {
      loop.schedule(after: replaced) { [transport, replacement] in transport.replaceCredential(replacement) }
    }
    let start = loop.now
    let total = plan.batches.reduce(0) { $0 + $1.pushes.count }
    let end = start.advanced(by: Self.patience)
    while sink.count < total, loop.step(until: end) {}
    // Long enough for what was cancelled to be reset and for old connections to run out, short of the next PING.
    let settled = loop.now.advanced(by: .seconds(50))
    while loop.step(until: settled) {}
    var faults = counter.counts
    faults["goaway twice"] = front.times
    faults["key replaced"] = plan.replacement == nil ? nil : 1
    faults["interrupt"] = plan.interrupt == nil ? nil : 1
    faults["stream ids run out"] = transport.statistics.connectionsReplacedForIDs
    return SimulationFinding(
      evidence: SimulationEvidence(
        plan: plan, outcomes: sink.outcomes, core: standIn.withLock { $0 }, permitsTaken: transport.permitsTaken,
        open: transport.open, faults: faults, networkTrace: loop.traceHash, watch: watch, givenUp: front.givenUp,
        mints: mints.withLock { $0 }, elapsed: start.duration(to: loop.now)))
  }
}

/// Outcomes in the order in which they came, with their moments.
final class OutcomeRecorder: OutcomeSink {
  let wantsChunks = true
  private let clock: Clock
  private let state = Locked<[(outcome: APNsOutcome, at: Instant)]>([])

  init(clock: Clock) {
    self.clock = clock
  }

  var outcomes: [(outcome: APNsOutcome, at: Instant)] { state.withLock { $0 } }
  var count: Int { state.withLock { $0.count } }

  func deliver(_ outcomes: [APNsOutcome]) {
    let now = clock.monotonic()
    state.withLock { $0 += outcomes.map { ($0, now) } }
  }
}

/// FNV-1a, 64 bits: whether two runs were the same.
struct TraceHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    add(0)
  }
}
