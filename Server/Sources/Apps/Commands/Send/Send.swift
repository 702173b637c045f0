import APNs
import ArgumentParsing
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport

/// `pabal send`: pushes from a .p8 to devices.
enum Send {
  static let definition = CommandDefinition(
    "send", summary: "send a push to devices, or to a user's",
    examples: [
      CommandExample("pabal send --user demo-jiwon -t 안녕 -b \"첫 푸시\" --wait", "through the server of `pabal up`"),
      CommandExample(
        "pabal send --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456 --topic com.example.app \\\n"
          + "    --environment sandbox --device 740f4707…4bad -t 안녕 -b \"첫 푸시\"",
        "one push to one phone"),
      CommandExample(
        "pabal send --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456 --topic com.example.app \\\n"
          + "    --environment production --devices-file tokens.txt --payload push.json --json > outcomes.ndjson",
        "a file of tokens, one outcome a line"),
      CommandExample(
        "pabal send … --device 740f4707…4bad --payload push.json --dry-run",
        "headers, payload and size, without sending"),
    ],
    options: SendOptions.direct + SendToUsers.options, plannedOptions: SendOptions.planned,
    notes: [
      """
      Exit codes
        0 all accepted   2 nothing was sent: the input is wrong   6 some were not accepted
        7 no connection came up   130 interrupted
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    if let option = SendToUsers.options.first(where: command.isSet) {
      guard command.isSet(SendToUsers.user) else { throw UsageError("--\(option.name) goes with --user ID.") }
      return try await SendToUsers.run(command, context)
    }
    let plan = try SendPlan(command, context)
    for warning in plan.warnings { context.say("warning: \(warning)") }
    guard !plan.isDryRun else { return try dryRun(plan, command, context) }
    var report = try SendReport(command, context, total: count(plan.devices))
    let loop = try UVLoop(clock: context.clock)
    let transport = APNsTransport(configuration: SendRun.configuration(plan, context), loop: loop)
    let run = SendRun(plan, context, transport: transport)
    let summary = try await run.perform(plan.devices, context: context, report: &report)
    report.finish(summary)
    await transport.shutdown(grace: .zero)
    loop.stop()
    return summary.exitCode
  }

  private static func count(_ devices: SendPlan.Devices) -> Int {
    switch devices {
    case .listed(let tokens): tokens.count
    case .file(_, let count): count
    }
  }

  private static func dryRun(
    _ plan: SendPlan, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> ExitCode {
    let fields = try command.value(SendOptions.json).map(JSONFields.init)
    var source = LineSource(plan.devices)
    while true {
      let (entries, _) = source.next(SendTokens.blockSize)
      guard !entries.isEmpty else { break }
      for entry in entries {
        let object = JSONValue.object([
          JSONMember("line", JSONValue(entry.line)), JSONMember("device", .string(entry.token.hex)),
          JSONMember("state", "dry_run"),
          JSONMember("headers", .object(plan.head.headers.map { JSONMember($0.name, .string($0.value)) })),
          JSONMember("payload", .raw(plan.payload.bytes)), JSONMember("bytes", JSONValue(plan.payload.bytes.count)),
        ])
        let bytes = fields.map { $0.pick(from: object.encoded) } ?? object.encoded
        if command.isSet(SendOptions.json) {
          context.output.append(bytes + [UInt8(ascii: "\n")])
        } else if entry.line == 1 {
          show(plan, context)
        }
      }
    }
    if !command.isSet(SendOptions.json) {
      context.say("Dry run: nothing was sent to \(count(plan.devices)) devices.")
    }
    context.output.flush()
    return .done
  }

  private static func show(_ plan: SendPlan, _ context: CommandContext) {
    for header in plan.head.headers { context.output.line("\(header.name): \(header.value)") }
    let limit = plan.head.pushType.maximumPayloadBytes
    context.output.line(String(decoding: plan.payload.bytes, as: UTF8.self))
    context.say("\(plan.payload.bytes.count) of \(limit) bytes")
  }
}
