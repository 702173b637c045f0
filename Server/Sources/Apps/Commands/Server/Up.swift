import ArgumentParsing
import Observability
import PabalPrimitives
import PabalServer

/// `pabal up`: the whole server on this machine, with a stand-in APNs behind it.
enum Up {
  private static let ephemeral = OptionDefinition("ephemeral", .flag, "in a folder that goes away with the process")
  private static let port = OptionDefinition("port", .value("N"), "of the API; the others follow; 0: free ones")
  private static let data = OptionDefinition("data", .value("DIR"), "where everything is kept; default ./pabal-data")
  private static let simulator = OptionDefinition(
    "simulator", .value("FILE"), "ready line of a running `pabal sim serve --json`, instead of its own")
  private static let json = OptionDefinition("json", .flag, "one line when ready")

  static let definition = CommandDefinition(
    "up", summary: "run a push server and a local APNs, ready to use",
    examples: [
      CommandExample("pabal up", "keeps its data in ./pabal-data"),
      CommandExample("pabal up --ephemeral --port 0 --json", "for scripts: nothing is kept, all ports are free ones"),
    ],
    options: [ephemeral, port, data, simulator, InputEnd.option, json])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    guard !command.isSet(ephemeral) || command.value(data) == nil else {
      throw UsageError("Give --ephemeral or --data, not both.")
    }
    let stop = StopRequest()
    context.signals.onSignal { count in
      guard count == 1 else { return CommandProcess.endAtOnce() }
      stop.request()
    }
    InputEnd.watch(command, json: json, stop)
    let folder: UpConfiguration.Folder =
      command.isSet(ephemeral) ? .ephemeral : .kept(command.value(data) ?? UpConfiguration.defaultFolder)
    let apiPort = try command.integer(port, in: 0...65_000) ?? Int(UpConfiguration.defaultPort)
    let configuration = UpConfiguration(
      folder: folder, port: UInt16(apiPort), simulatorFile: command.value(simulator), version: Version.current,
      clock: context.clock, log: log(command, context))
    switch try await UpServer.start(configuration) {
    case .alreadyRunning(let line):
      announce(line, command, context)
      context.say("A server runs on this data already; these are its links.")
    case .running(let server):
      announce(server.readyLine, command, context)
      await stop.requested()
      context.say("Stopping: what is on its way is finished first.")
      await server.stop()
    }
    return .done
  }

  /// JSON for machines, text for people; both on standard error, and neither ever waits for its reader.
  private static func log(_ command: ParsedCommand, _ context: CommandContext) -> Log {
    DescriptorSink(descriptor: 2, format: command.isSet(json) ? .json : .text)
      .log(minimumLevel: .info, clock: context.clock)
  }

  private static func announce(_ line: UpReadyLine, _ command: ParsedCommand, _ context: CommandContext) {
    guard !command.isSet(json) else { return context.output.line(line.json.encodedText) }
    let devices = line.users.reduce(0) { $0 + $1.devices.count }
    context.output.line("pabal \(Version.current)  test mode, data in \(line.data)")
    context.output.line("")
    context.output.line("  API        \(line.server)/v1   described in \(line.server)/openapi.json")
    context.output.line("  Metrics    \(line.metrics)")
    context.output.line("  Test key   in \(line.data)/profile.json, used by this command")
    context.output.line("  Phones     \(devices) simulated ones of \(line.users.map(\.id).joined(separator: ", "))")
    guard let first = line.users.first else { return }
    context.say("")
    context.say("Send your first push from another terminal:")
    context.say("  pabal send --user \(first.id) -t \"안녕하세요\" -b \"첫 푸시입니다\"")
    context.say("Ctrl-C stops the server; data stays.")
  }
}
