import APNs
import Delivery
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport

/// One run of `pabal send`: a task reads lines and hands pushes over, another takes outcomes and reports them.
///
/// Both are bounded by the transport, so that a list of any length takes the same memory.
struct SendRun: Sendable {
  /// How long replies are awaited after the first Ctrl-C.
  private static let grace = Duration.seconds(5)

  private let head: APNsHead
  private let payload: APNsPayload
  private let apnsID: APNsID?
  private let attemptLimit: Int
  private let repeatsUnknown: Bool
  private let expiresAt: WallTime?
  private let randomness: Randomness
  private let transport: APNsTransport
  /// How often Ctrl-C was pressed.
  private let interrupts = Locked(0)
  private let tokens = SendTokens()

  init(_ plan: SendPlan, _ context: CommandContext, transport: APNsTransport) {
    head = plan.head
    payload = plan.payload
    apnsID = plan.apnsID
    attemptLimit = plan.repeats + 1
    repeatsUnknown = plan.repeatsUnknown || plan.head.collapseID != nil
    expiresAt = Self.deadline(plan, context.clock.wall())
    randomness = context.randomness
    self.transport = transport
  }

  static func configuration(_ plan: SendPlan, _ context: CommandContext) -> APNsTransportConfiguration {
    let pool = PoolMachine.Rules(
      connections: plan.connections, dialsMaximum: plan.timeout == nil ? plan.repeats + 1 : nil)
    var rules = DeliveryRules(requestTimeout: plan.requestTimeout)
    rules.requestTimeout = plan.requestTimeout
    return APNsTransportConfiguration(
      endpoint: plan.endpoint, tls: plan.tls, credential: plan.credential, pool: pool, rules: rules,
      concurrency: plan.concurrency, clock: context.clock, randomness: context.randomness)
  }

  /// - Parameter report: told of each line exactly once, then of the whole.
  func perform(_ devices: SendPlan.Devices, context: CommandContext, report: inout SendReport) async throws
    -> SendSummary
  {
    let started = context.clock.monotonic()
    context.signals.onSignal { count in
      interrupts.withLock { $0 = count }
      obeyInterrupt()
      if count == 1 { context.say("Stopping: waiting up to 5 s for replies. Press Ctrl-C again to stop at once.") }
    }
    let run = transport.startRun()
    let source = LineSource(devices)
    let submission = Task { await submit(source, to: run) }
    var summary = SendSummary()
    while let outcomes = await run.nextOutcomes() {
      tokens.take(outcomes.map(\.tag)) { entry, index in
        let line = OutcomeLine(line: entry.line, device: entry.token, outcomes[index])
        summary.count(line)
        report.add(line)
      }
      report.flush()
    }
    for line in await submission.value {
      summary.count(line)
      report.add(line)
    }
    let statistics = await transport.statistics()
    summary.connections = statistics.connectionsReady
    summary.wasInterrupted = isInterrupted
    summary.wasUnreachable = statistics.connectionsReady == 0 && statistics.requestsWritten == 0
    summary.duration = started.duration(to: context.clock.monotonic())
    if summary.wasUnreachable, let error = statistics.lastConnectionError {
      context.say("No connection came up: \(error.message)")
    }
    return summary
  }
}

extension SendRun {
  private var isInterrupted: Bool { interrupts.withLock { $0 } > 0 }

  private func obeyInterrupt() {
    let count = interrupts.withLock { $0 }
    guard count > 0 else { return }
    transport.interrupt(grace: count == 1 ? Self.grace : .zero)
  }

  /// Reads to the end whatever happens, since each line gets its object.
  ///
  /// - Returns: the lines that were never handed over.
  private func submit(_ source: LineSource, to run: APNsRun) async -> [OutcomeLine] {
    var unsent: [OutcomeLine] = []
    var block: UInt64 = 0
    var source = source
    while true {
      let (entries, bad) = source.next(SendTokens.blockSize)
      unsent += bad.map { OutcomeLine(line: $0, device: nil, state: .rejected, reason: .deviceTokenInvalid) }
      guard !entries.isEmpty else { break }
      guard !isInterrupted else {
        unsent += entries.map { OutcomeLine(line: $0.line, device: $0.token, state: .canceled, reason: .interrupted) }
        continue
      }
      let first = tokens.add(entries, block: block)
      block += 1
      await run.submit(pushes(entries, first))
      // Ctrl-C may have come between the look above and the hand-over.
      obeyInterrupt()
    }
    run.finish()
    return unsent
  }

  private func pushes(_ entries: [SendTokens.Entry], _ first: UInt64) -> [APNsPush] {
    // One draw for the whole block: the system's generator is dearer than the push.
    let random = randomness.fill(16 * entries.count)
    return entries.enumerated().map { index, entry in
      APNsPush(
        tag: first + UInt64(index), request: APNsRequest(token: entry.token, head: head, payload: payload),
        apnsID: apnsID ?? APNsID(octets: random, from: 16 * index), expiresAt: expiresAt,
        repeatsUnknown: repeatsUnknown, attemptLimit: attemptLimit)
    }
  }

  /// The end of the run or of the push, whichever is sooner.
  private static func deadline(_ plan: SendPlan, _ now: WallTime) -> WallTime? {
    let ends = plan.timeout.map { now.advanced(by: $0) }
    guard case .at(let expiration)? = plan.head.expiration else { return ends }
    return ends.map { min($0, expiration) } ?? expiration
  }
}

/// The devices of a run, in order, as often as asked.
struct LineSource: Sendable {
  private enum Source: Sendable {
    case listed([DeviceToken], next: Int)
    case file(TokenLines)
  }

  private var source: Source

  init(_ devices: SendPlan.Devices) {
    switch devices {
    case .listed(let tokens): source = .listed(tokens, next: 0)
    case .file(let file, _): source = .file(TokenLines(file))
    }
  }

  /// At most `count` devices, none after the last; and the lines that have become unreadable since the first pass.
  mutating func next(_ count: Int) -> (entries: [SendTokens.Entry], bad: [Int]) {
    switch source {
    case .listed(let tokens, let start):
      let end = min(start + count, tokens.count)
      source = .listed(tokens, next: end)
      return ((start..<end).map { SendTokens.Entry(line: $0 + 1, token: tokens[$0]) }, [])
    case .file(var lines):
      defer { source = .file(lines) }
      return Self.read(count, from: &lines)
    }
  }

  private static func read(_ count: Int, from lines: inout TokenLines) -> (entries: [SendTokens.Entry], bad: [Int]) {
    var entries: [SendTokens.Entry] = []
    entries.reserveCapacity(count)
    var bad: [Int] = []
    do {
      while entries.count < count, let line = try lines.next() {
        if let token = line.token {
          entries.append(SendTokens.Entry(line: line.number, token: token))
        } else {
          bad.append(line.number)
        }
      }
    } catch {
      // The file went away under us: what was read is sent, the rest cannot be named.
      return (entries, bad)
    }
    return (entries, bad)
  }
}
