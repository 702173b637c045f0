import APNs
import ArgumentParsing
import Delivery
import EventLoop
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// `pabal bench apns`: how fast the engine of this very binary is against an APNs that is not Apple's.
enum BenchAPNs {
  static let count = OptionDefinition("count", .value("N"), "pushes")
  static let inFlight = OptionDefinition("in-flight", .value("N"), "pushes without an answer at once")
  static let mode = OptionDefinition("mode", .value("NAME"), "batch (default), or single: one await for each push")
  static let tasks = OptionDefinition(
    "tasks", .value("N"), "tasks that send; default 8 with batches of 500, 2000 of single pushes")
  static let devicesFile = OptionDefinition(
    "devices-file", .value("FILE"), "tokens, one a line, all read whatever --count is; default: made up")
  static let payload = OptionDefinition("payload", .value("FILE"), "default: an alert of 250 bytes")
  static let team = OptionDefinition("team", .value("ID"), "team id, for an APNs that looks at it")
  static let topic = OptionDefinition("topic", .value("BUNDLE"), "default com.example.demo")
  static let json = OptionDefinition("json", .flag, "one object")

  static let definition = CommandDefinition(
    "apns", summary: "weigh the engine against a local APNs",
    examples: [
      CommandExample(
        "pabal bench apns --endpoint https://localhost:8421 --ca ca.pem --p8 AuthKey_ABC123DEFG.p8 \\\n"
          + "    --count 100000 --in-flight 1000",
        "100,000 pushes, a thousand at once")
    ],
    options: [
      SendOptions.endpoint, SendOptions.ca, SendOptions.p8, SendOptions.keyID, team, topic, count, inFlight, mode,
      tasks,
      devicesFile, payload, SendOptions.connections, json,
    ],
    notes: [
      """
      Apple's own hosts are refused. Two runs with the same file differ by the pushes sent and by nothing else:
      the difference of their processor times is what the pushes cost.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let plan = try await OwnThread.run { Result { try BenchPlan(command, context) } }.get()
    let loop = try UVLoop(clock: context.clock)
    var configuration = APNsTransportConfiguration(
      endpoint: plan.endpoint, tls: plan.tls, credential: .token(plan.credential))
    configuration.concurrency = plan.inFlight
    configuration.pool.connections = plan.connections
    configuration.pool.dialsMaximum = plan.dials
    let transport = APNsTransport(configuration: configuration, loop: loop)
    let started = context.clock.monotonic()
    let busy = processorTime()
    var report = await plan.isSingle ? sendSingly(plan, over: transport) : sendBatches(plan, over: transport)
    report.processorTime = processorTime() - busy
    report.elapsed = started.duration(to: context.clock.monotonic())
    let statistics = await transport.statistics()
    await transport.shutdown(grace: .zero)
    loop.stop()
    report.connections = statistics.connectionsDialed
    report.wasUnreachable = statistics.requestsWritten == 0
    report.lastError = report.accepted == report.total ? nil : statistics.lastConnectionError?.message
    if command.isSet(json) {
      context.output.line(report.json.encodedText)
    } else {
      report.lines.forEach(context.output.line)
    }
    return report.exitCode
  }

  /// Each task takes the next batch as soon as its last one is answered.
  private static func sendBatches(_ plan: BenchPlan, over transport: APNsTransport) async -> BenchReport {
    await inTasks(plan, step: BenchPlan.batchPushes) { range, report in
      report.count(await transport.send(plan.batch(range)))
    }
  }

  private static func sendSingly(_ plan: BenchPlan, over transport: APNsTransport) async -> BenchReport {
    await inTasks(plan, step: 1) { range, report in
      for index in range { report.count(await transport.send(plan.push(index))) }
    }
  }

  private static func inTasks(
    _ plan: BenchPlan, step: Int, _ send: @escaping @Sendable (Range<Int>, inout BenchReport) async -> Void
  ) async -> BenchReport {
    let next = Locked(0)
    let count = plan.tokens.count
    return await withTaskGroup(of: BenchReport.self) { group in
      for _ in 0..<min(plan.tasks, count) {
        group.addTask {
          var report = BenchReport()
          while true {
            let range = next.withLock { next -> Range<Int> in
              let start = next
              next = min(count, next + step)
              return start..<next
            }
            guard !range.isEmpty else { return report }
            await send(range, &report)
          }
        }
      }
      return await group.reduce(into: BenchReport()) { $0.add($1) }
    }
  }

  /// User and system, of the whole process.
  private static func processorTime() -> Duration {
    var usage = rusage()
    #if canImport(Darwin)
    getrusage(RUSAGE_SELF, &usage)
    #else
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    return .seconds(Int64(usage.ru_utime.tv_sec) + Int64(usage.ru_stime.tv_sec))
      + .microseconds(Int64(usage.ru_utime.tv_usec) + Int64(usage.ru_stime.tv_usec))
  }
}
