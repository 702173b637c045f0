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
        "pabal send … --devices-file list.csv -t \"{name}\" -b \"{city}\" --resume run.journal",
        "each with its own words, and again after a crash"),
      CommandExample(
        "pabal send … --device 740f4707…4bad --payload push.json --dry-run",
        "headers, payload and size, without sending"),
    ],
    options: SendOptions.direct + SendToUsers.options, plannedOptions: SendOptions.planned,
    notes: [
      """
      Lists
        tokens   one a line; blank lines and lines that start with # are skipped
        ndjson   {"device":"…","variables":{…},"apnsId":"…","collapseId":"…"}, all but device optional
        csv      a header line with the column device; all other columns are variables
        {name} in a string of the payload, of -t or of -b becomes the line's variable; {{ is a brace.
      """,
      """
      Exit codes
        0 all accepted   2 nothing was sent: the input is wrong   5 the journal is of another run
        6 some were not accepted   7 no connection came up   130 interrupted
      """,
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    if let option = SendToUsers.options.first(where: command.isSet) {
      guard command.isSet(SendToUsers.user) else { throw UsageError("--\(option.name) goes with --user ID.") }
      return try await SendToUsers.run(command, context)
    }
    // Files are read to their ends here: not on Swift's own threads.
    let plan = try await OwnThread.run { Result { try SendPlan(command, context) } }.get()
    for warning in plan.warnings { context.say("warning: \(warning)") }
    guard !plan.isDryRun else { return try await SendDryRun.run(plan, command, context) }
    let report = try SendReport(command, context, list: plan.list)
    let loop = try UVLoop(clock: context.clock)
    let transport = APNsTransport(configuration: SendRun.configuration(plan, context), loop: loop)
    let run = SendRun(plan, context, report: report, transport: transport)
    let ending: Result<SendSummary, any Error>
    do {
      ending = .success(try await run.perform())
    } catch {
      ending = .failure(error)
    }
    await transport.shutdown(grace: .zero)
    loop.stop()
    return try ending.get().exitCode
  }
}
