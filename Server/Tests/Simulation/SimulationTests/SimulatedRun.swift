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

  let seed: UInt64
  let loop: ScriptedLoop
  let plan: SimulationPlan
  let standIn: Locked<StandInCore>
  let transport: TransportCore
  private let listener: HTTP2Listener
  private let sink = OutcomeRecorder()
  private let counter = NetworkFaultCounter()

  init(seed: UInt64, planted: PlantedBug? = nil) throws {
    self.seed = seed
    let loop = ScriptedLoop(seed: seed)
    self.loop = loop
    let clock = loop.clock
    var draw = SeededGenerator(seed: seed &* 0x9E37_79B9)
    plan = try SimulationPlan(drawing: &draw)
    let key = StandInKey(keyID: "KEY1234567", teamID: "TEAM123456", verifies: { _, _ in true })
    var core = StandInCore(
      keys: [key], bundles: [SimulationPlan.topic], rules: plan.rules, clock: clock, randomness: .seeded(seed),
      digest: { String($0.utf8.reduce(into: TraceHash()) { $0.add($1) }.value) })
    for device in plan.devices { _ = try core.addDevice(device) }
    core.setFaults(plan.faults, seed: seed)
    standIn = Locked(core)
    let service = StandInService(core: standIn, environment: .sandbox, loop: loop)
    listener = HTTP2Listener(
      loop: loop, tls: nil, configuration: StandInService.configuration(plan.rules), handler: service)
    let port = try listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))
    var credential = try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate())
    credential.tokenSource = { now, _ in Self.token(issuedAt: now) }
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port), tls: nil,
      credential: credential, clock: clock, randomness: .seeded(seed))
    configuration.pool.connections = plan.connections
    configuration.concurrency = plan.concurrency
    configuration.planted = planted
    transport = TransportCore(configuration: configuration, loop: loop)
    let plan = plan
    var chance = SeededGenerator(seed: draw.next())
    loop.onConnect = { [counter] connection in
      guard let fault = plan.networkFaults.randomElement(using: &chance), let fault else { return }
      counter.count(fault)
      fault.apply(to: connection, &chance)
    }
  }

  deinit { loop.end() }

  /// Runs to the end of virtual time or of all pushes, whichever comes first, and judges.
  func finish() -> SimulationFinding {
    var next: UInt64 = 1
    for (delay, pushes) in plan.batches {
      let batch = PushBatch(id: next, pushes: pushes, sink: sink)
      next += 1
      loop.schedule(after: delay) { self.transport.take(batch) }
    }
    if let interrupt = plan.interrupt {
      loop.schedule(after: interrupt) { self.transport.cancelAll(grace: .seconds(5)) }
    }
    let total = plan.batches.reduce(0) { $0 + $1.pushes.count }
    let end = loop.now.advanced(by: Self.patience)
    while sink.outcomes.count < total, loop.now < end, loop.step() {}
    let settled = loop.now.advanced(by: .seconds(120))
    while loop.now < settled, loop.step() {}
    return SimulationFinding(
      plan: plan, outcomes: sink.outcomes, core: standIn.withLock { $0 }, permitsTaken: transport.permitsTaken,
      open: transport.open, networkFaults: counter.counts, networkTrace: loop.traceHash)
  }

  /// A token of the right form whose signature is the same in each run.
  private static func token(issuedAt now: WallTime) -> String {
    let header: JSONValue = ["alg": "ES256", "kid": "KEY1234567"]
    let claims: JSONValue = ["iss": "TEAM123456", "iat": .int(now.seconds)]
    let signature = Randomness.seeded(UInt64(now.seconds)).fill(64)
    return [header.encoded, claims.encoded, signature].map { Base64URL.encode($0) }.joined(separator: ".")
  }
}

/// Outcomes in the order in which they came, with their moments.
final class OutcomeRecorder: OutcomeSink {
  let wantsChunks = true
  private let state = Locked<[APNsOutcome]>([])

  var outcomes: [APNsOutcome] { state.withLock { $0 } }

  func deliver(_ outcomes: [APNsOutcome]) {
    state.withLock { $0 += outcomes }
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

/// What the network itself does to a connection.
enum NetworkFault: String, CaseIterable, Sendable {
  case dialRefused = "dial refused"
  case dialSwallowed = "dial swallowed"
  case resetOnTheWayThere = "reset on the way there"
  case resetOnTheWayBack = "reset on the way back"
  case silenceOnTheWayBack = "nothing comes back"
  case kernelTakesNoMore = "kernel takes no more"

  func apply(to connection: ScriptedConnection, _ chance: inout SeededGenerator) {
    let bytes = UInt64.random(in: 100...20_000, using: &chance)
    switch self {
    case .dialRefused: connection.dial = .refused
    case .dialSwallowed: connection.dial = .swallowed
    case .resetOnTheWayThere: connection.resetAfter = (.toServer, bytes)
    case .resetOnTheWayBack: connection.resetAfter = (.toClient, bytes / 8)
    case .silenceOnTheWayBack: connection.stallAfter = (.toClient, bytes / 8)
    case .kernelTakesNoMore: connection.takeAtMost = bytes
    }
  }
}

final class NetworkFaultCounter {
  private(set) var counts: [String: Int] = [:]

  func count(_ fault: NetworkFault) {
    counts[fault.rawValue, default: 0] += 1
  }
}
