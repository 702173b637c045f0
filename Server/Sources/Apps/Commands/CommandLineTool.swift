package import ArgumentParsing
import PabalPrimitives

/// The `pabal` command: its verbs, and what happens to what they throw.
package enum CommandLineTool {
  private struct Verb {
    let path: [String]
    let run: @Sendable (ParsedCommand, CommandContext) async throws -> ExitCode

    init(_ path: String..., run: @escaping @Sendable (ParsedCommand, CommandContext) async throws -> ExitCode) {
      self.path = path
      self.run = run
    }
  }

  private static let verbs: [Verb] = [
    Verb("up", run: Up.run),
    Verb("send", run: Send.run),
    Verb("why", run: Why.run),
    Verb("status", run: Status.run),
    Verb("doctor", run: Doctor.run),
    Verb("explain", run: Explain.run),
    Verb("jwt", "make", run: JWTMake.run),
    Verb("jwt", "inspect", run: JWTInspect.run),
    Verb("devices", "check-token", run: CheckToken.run),
    Verb("payload", "lint", run: PayloadLint.run),
    Verb("payload", "size", run: PayloadSize.run),
    Verb("payload", "preview", run: PayloadPreview.run),
    Verb("payload", "curl", run: PayloadCurl.run),
    Verb("payload", "export", run: PayloadExport.run),
    Verb("sim", "serve", run: SimServe.run),
    Verb("sim", "devices", run: SimDevices.run),
    Verb("sim", "add", run: SimAdd.run),
    Verb("sim", "fault", run: SimFault.run),
    Verb("sim", "inbox", run: SimInbox.run),
    Verb("sim", "requests", run: SimRequests.run),
    Verb("sim", "stats", run: SimStats.run),
    Verb("sim", "clock", run: SimClock.run),
    Verb("sim", "reset", run: SimReset.run),
    Verb("completion", run: Completion.run),
    Verb("manual", run: Manual.run),
    Verb("bench", "apns", run: BenchAPNs.run),
    Verb("version", run: Version.run),
  ]

  private static let noColor = OptionDefinition(
    "no-color", .flag, "no colour, whatever the terminal; NO_COLOR=1 says it for all commands")

  package static let definition = CommandDefinition(
    "pabal", summary: "push notifications to Apple devices, and a strict APNs stand-in to try them on",
    examples: [
      CommandExample("pabal up", "a push server with a local APNs behind it"),
      CommandExample("pabal send --user demo-jiwon -t 안녕 -b \"첫 푸시\"", "a push through it"),
      CommandExample("pabal explain apns.BadDeviceToken", "what a reason means and what to do"),
    ],
    everywhere: [noColor],
    subcommands: [
      Up.definition,
      Send.definition,
      Why.definition,
      Status.definition,
      Doctor.definition,
      Explain.definition,
      CommandDefinition(
        "jwt", summary: "provider tokens", subcommands: [JWTMake.definition, JWTInspect.definition]),
      CommandDefinition(
        "devices", summary: "device tokens", subcommands: [CheckToken.definition],
        plannedSubcommands: ["list", "get", "add", "remove", "import", "export"]),
      CommandDefinition(
        "payload", summary: "payloads, offline",
        subcommands: [
          PayloadLint.definition, PayloadSize.definition, PayloadPreview.definition, PayloadCurl.definition,
          PayloadExport.definition,
        ]),
      CommandDefinition(
        "sim", summary: "a local APNs to try things on",
        subcommands: [
          SimServe.definition, SimDevices.definition, SimAdd.definition, SimFault.definition, SimInbox.definition,
          SimRequests.definition, SimStats.definition, SimClock.definition, SimReset.definition,
        ], plannedSubcommands: ["tap", "phone", "relay", "flood"]),
      Completion.definition,
      Manual.definition,
      CommandDefinition(
        "bench", summary: "how fast the engine is on this machine", subcommands: [BenchAPNs.definition]),
      Version.definition,
    ],
    plannedSubcommands: [
      "serve", "open", "messages", "deliveries", "users", "topics", "segments", "types", "schedules",
      "policies", "insights", "creds", "keys", "webhooks", "listen", "trigger", "logs", "team", "audit",
      "jobs",
      "backup", "restore", "migrate", "config",
    ])

  /// Runs one command line.
  ///
  /// - Parameter words: without the name of the program.
  package static func run(_ words: [String], _ context: CommandContext) async -> ExitCode {
    do {
      switch try CommandParser(definition).parse(words) {
      case .help(let text):
        context.output.text(text)
        return .done
      case .run(let command):
        guard let verb = verbs.first(where: { $0.path == command.path }) else {
          preconditionFailure("every verb of the definition is in the table")
        }
        return try await verb.run(command, command.isSet(noColor) ? context.withoutColor : context)
      }
    } catch {
      return refuse(error, context)
    }
  }

  private static func refuse(_ error: any Error, _ context: CommandContext) -> ExitCode {
    context.output.flush()
    guard let known = error as? any CodedError else {
      context.say("pabal: \(error)")
      return .failure
    }
    context.say("pabal: \(known.message)")
    return (known as? any ExitingError)?.exitCode ?? .usage
  }
}

/// An error that is not the user's input: it says itself how the command ends.
protocol ExitingError: CodedError {
  var exitCode: ExitCode { get }
}
