import ArgumentParsing
import PabalModel
import PabalPrimitives

/// `pabal sim add`: new devices on a stand-in.
enum SimAdd {
  private static let count = OptionDefinition("count", .value("N"), "so many of the same kind; default 1")
  private static let id = OptionDefinition("id", .value("ID"), "its id; default: a new one")
  private static let token = OptionDefinition("token", .value("TOKEN"), "its token in hex; default: a new one")
  private static let environment = OptionDefinition(
    "environment", .value("NAME"), "sandbox (default) or production", choices: PushEnvironment.allCases.map(\.rawValue))
  private static let topic = OptionDefinition("topic", .value("BUNDLE"), "its app; default: the stand-in's")
  private static let state = OptionDefinition(
    "state", .value("STATE"), "registered (default), unregistered or expired", choices: SimDevices.states)
  private static let offline = OptionDefinition("offline", .flag, "it cannot be reached: its pushes are stored")

  static let definition = CommandDefinition(
    "add", summary: "add devices to a stand-in",
    examples: [
      CommandExample("pabal sim add", "one sandbox device"),
      CommandExample("pabal sim add --count 5000 --json > devices.json", "many"),
      CommandExample("pabal sim add --state unregistered", "one whose app is gone: APNs answers 410"),
    ],
    options: [count, id, token, environment, topic, state, offline, SimClient.json, SimClient.control])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    if let word = command.value(state), !SimDevices.states.contains(word) {
      throw UsageError("--state must be one of \(SimDevices.states.joined(separator: ", ")); found '\(word)'.")
    }
    let body = JSONValue.compact([
      "count": JSONValue(try command.integer(count, in: 1...1_000_000)), "id": JSONValue(command.value(id)),
      "token": JSONValue(command.value(token)),
      "environment": JSONValue(try command.choice(environment, of: PushEnvironment.self)?.rawValue),
      "topic": JSONValue(command.value(topic)), "state": JSONValue(command.value(state)),
      "online": command.isSet(offline) ? false : .null,
    ])
    guard let made = try await client.call("POST", "/devices", body: body) else { return .done }
    if made["data"] != nil {
      try SimOutput.list(made, command, context, header: SimDevices.header, row: SimDevices.row)
    } else {
      try SimOutput.one(made, command, context, header: SimDevices.header, row: SimDevices.row)
    }
    return .done
  }
}
