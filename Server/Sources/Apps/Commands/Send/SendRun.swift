import APNs
import ArgumentParsing
import Delivery
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport

/// One run of `pabal send`: one task reads lines and hands pushes over, another takes outcomes and reports them.
///
/// Both are bounded by the transport, so that a list of any length takes the same memory.
final class SendRun: Sendable {
  /// How long replies are awaited after the first Ctrl-C.
  private static let grace = Duration.seconds(5)
  /// Pushes of one block when a journal is kept, at least and at most: what is journaled and not yet sent ends
  /// `unknown` after a kill, and each block waits for the disk once.
  private static let journaledBlock = 16...256
  /// How long a Ctrl-C may wait behind `--rate`.
  private static let look = Duration.milliseconds(100)

  private let plan: SendPlan
  private let context: CommandContext
  private let transport: APNsTransport
  private let terms: SendTerms
  private let journal: SendJournal?
  private let report: Locked<SendReport>
  /// Apart from the report, which may wait for a reader of the outcomes: a Ctrl-C must not.
  private let progress: SendProgressLine
  private let tokens = SendTokens()
  /// How often Ctrl-C was pressed, and what stopped the run otherwise.
  private let stop = Locked<(interrupts: Int, failure: (any CodedError)?)>((0, nil))

  init(_ plan: SendPlan, _ context: CommandContext, report: SendReport, transport: APNsTransport) {
    self.plan = plan
    self.context = context
    self.transport = transport
    self.report = Locked(report)
    progress = report.progress
    terms = SendTerms(plan, now: context.clock.wall())
    journal = plan.journal
  }

  static func configuration(_ plan: SendPlan, _ context: CommandContext) -> APNsTransportConfiguration {
    let pool = PoolMachine.Rules(
      connections: plan.connections, dialsMaximum: plan.timeout == nil ? plan.repeats + 1 : nil)
    var configuration = APNsTransportConfiguration(
      endpoint: plan.endpoint, proxy: plan.proxy, tls: plan.tls, credential: plan.credential, pool: pool,
      rules: DeliveryRules(requestTimeout: plan.requestTimeout), concurrency: plan.concurrency, clock: context.clock,
      randomness: context.randomness)
    if plan.journal != nil { configuration.queueLimit = plan.concurrency + blockSize(plan) }
    return configuration
  }

  private static func blockSize(_ plan: SendPlan) -> Int {
    guard plan.journal != nil else { return SendTokens.blockSize }
    return min(max(plan.concurrency / 4, journaledBlock.lowerBound), journaledBlock.upperBound)
  }

  /// - Throws: what stopped the run before its end; every line has its outcome by then.
  func perform() async throws -> SendSummary {
    let started = context.clock.monotonic()
    context.signals.onSignal { [self] count in
      stop.withLock { $0.interrupts = count }
      obeyStop()
      if count == 1 { progress.say("Stopping: waiting up to 5 s for replies. Press Ctrl-C again to stop at once.") }
    }
    // Nothing is left to stop then, and only the report to be written out.
    defer { context.signals.onSignal { _ in } }
    if let journal { report.withLock { $0.countEarlier(journal.found) } }
    let source = try SendSource(
      plan, terms: terms, journal: journal, clock: context.clock, randomness: context.randomness,
      isStopped: { [self] in isStopped })
    let run = transport.startRun()
    let submission = Task { await submit(source, to: run) }
    while let outcomes = await run.nextOutcomes() { await take(outcomes) }
    await submission.value
    await syncJournal()
    let statistics = await transport.statistics()
    let (interrupts, failure) = stop.withLock { $0 }
    let isEmpty = report.withLock { $0.summary.total == 0 }
    guard !isEmpty || interrupts > 0 else {
      throw failure
        ?? UsageError("The device list \(plan.list.name) holds no tokens: put one on each line. Nothing was sent.")
    }
    let summary = report.withLock { report in
      report.finish { summary in
        summary.connections = statistics.connectionsReady
        summary.wasInterrupted = interrupts > 0
        summary.wasUnreachable =
          statistics.lastConnectionError != nil && statistics.connectionsReady == 0 && statistics.requestsWritten == 0
        summary.duration = started.duration(to: context.clock.monotonic())
      }
    }
    if summary.wasUnreachable, let error = statistics.lastConnectionError {
      context.say("No connection came up: \(error.message)")
    }
    if let failure { throw failure }
    return summary
  }
}

extension SendRun {
  private var isStopped: Bool { stop.withLock { $0.interrupts > 0 || $0.failure != nil } }

  private func obeyStop() {
    let (count, failure) = stop.withLock { $0 }
    guard count > 0 || failure != nil else { return }
    transport.interrupt(grace: count > 1 ? .zero : Self.grace)
  }

  private func fail(_ error: any CodedError) {
    stop.withLock { stop in
      if stop.failure == nil { stop.failure = error }
    }
    obeyStop()
  }

  // MARK: - In

  /// Reads to the end whatever happens, since each line gets its object.
  private func submit(_ source: SendSource, to run: APNsRun) async {
    let limit = Self.blockSize(plan)
    var pace = plan.rate.map { SendPace(rate: $0, started: context.clock.monotonic()) }
    let size = pace?.blockSize(atMost: limit) ?? limit
    while true {
      if let pace { await wait(for: pace) }
      let block = await OwnThread.run { source.next(size) }
      pace?.spend(block.batch.count)
      if let failure = block.failure { fail(failure) }
      if !block.ended.isEmpty { await end(block.ended) }
      tokens.add(block)
      await run.submit(block.batch)
      // Ctrl-C may have come between the look at each line and the hand-over.
      obeyStop()
      if block.isLast { break }
    }
    run.finish()
  }

  private func wait(for pace: SendPace) async {
    while !isStopped {
      let clock = context.clock
      // What cannot be sent in time any more need not wait for its turn.
      if let expiresAt = terms.expiresAt, clock.wall() >= expiresAt { return }
      let wait = pace.wait(now: clock.monotonic())
      guard wait > .zero else { return }
      do {
        try await Task.sleep(for: min(wait, Self.look))
      } catch {
        return
      }
    }
  }

  // MARK: - Out

  private func take(_ outcomes: [APNsOutcome]) async {
    var lines: [OutcomeLine] = []
    lines.reserveCapacity(outcomes.count)
    tokens.take(outcomes.map(\.tag)) { entry, index in
      lines.append(OutcomeLine(line: entry.line, device: entry.token, outcomes[index]))
    }
    await end(lines)
  }

  /// Into the journal first: a line that is on the screen and not there would be told of twice.
  private func end(_ lines: [OutcomeLine]) async {
    if let journal {
      do {
        let isTime = try journal.end(
          lines.map { ($0.line, JournalState.Ending(state: $0.state, reason: $0.reason)) })
        if isTime { await syncJournal() }
      } catch {
        fail(error)
      }
    }
    report.withLock { $0.add(lines) }
  }

  private func syncJournal() async {
    guard let journal else { return }
    let failure = await OwnThread.run { () -> JournalError? in
      do throws(JournalError) {
        try journal.sync()
        return nil
      } catch {
        return error
      }
    }
    if let failure { fail(failure) }
  }
}
