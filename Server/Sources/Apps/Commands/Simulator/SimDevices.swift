import ArgumentParsing
import PabalModel
import PabalPrimitives

/// `pabal sim devices`: the phones of a stand-in, and what becomes of one.
enum SimDevices {
  static let states = ["registered", "unregistered", "expired"]
  private static let id = OperandDefinition("ID", isRequired: false, "one device; without it all are listed")
  private static let token = OptionDefinition("token", .value("TOKEN"), "the device with this token")
  private static let state = OptionDefinition(
    "state", .value("STATE"), "change the device: registered, unregistered or expired", choices: states)
  private static let online = OptionDefinition("online", .flag, "change the device: it can be reached")
  private static let offline = OptionDefinition("offline", .flag, "change the device: its pushes are stored")
  private static let remove = OptionDefinition("remove", .flag, "take the device away")

  static let definition = CommandDefinition(
    "devices", summary: "list the devices of a stand-in, or change one",
    examples: [
      CommandExample("pabal sim devices", "all of them"),
      CommandExample("pabal sim devices dev_1 --state unregistered", "its user has deleted the app"),
      CommandExample("pabal sim devices dev_1 --offline", "switched off: APNs keeps one push for it"),
    ],
    options: [
      token, state, online, offline, remove, SimClient.limit, SimClient.cursor, SimClient.json, SimClient.control,
    ], operands: [id])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    guard let device = command.operands.first else {
      if let change = [state, online, offline, remove].first(where: command.isSet) {
        throw UsageError("--\(change.name) needs the device: pabal sim devices ID --\(change.name).")
      }
      let list = try await client.list("/devices", command, query: [("token", command.value(token))])
      try SimOutput.list(list, command, context, header: header, row: row)
      return .done
    }
    let path = "/devices/\(PlainHTTPClient.escape(device))"
    guard !command.isSet(remove) else {
      try await client.call("DELETE", path)
      context.say(context.text(en: "\(device) is gone.", ko: "\(device)을(를) 지웠습니다."))
      return .done
    }
    let body = try change(command)
    let found = try await (body == .object([]) ? client.call("GET", path) : client.call("PATCH", path, body: body))
    if let found { try SimOutput.one(found, command, context, header: header, row: row) }
    return .done
  }

  static let header = ["ID", "TOKEN", "ENVIRONMENT", "TOPIC", "STATE", "ONLINE"]

  /// Tokens are whole away from a terminal: they are what the next command takes.
  static func row(_ device: JSONSlice, _ context: CommandContext) -> [String] {
    let hex = device["token"]?.string ?? ""
    let token = context.outputTerminal.isTerminal ? DeviceToken(bytes: Hex.decode(hex) ?? [])?.redacted ?? hex : hex
    return [
      device["id"]?.string ?? "", token, device["environment"]?.string ?? "", device["topic"]?.string ?? "",
      device["state"]?.string ?? "", device["online"]?.bool == true ? "yes" : "no",
    ]
  }

  private static func change(_ command: ParsedCommand) throws(UsageError) -> JSONValue {
    guard !(command.isSet(online) && command.isSet(offline)) else {
      throw UsageError("Give --online or --offline, not both.")
    }
    if let word = command.value(state), !states.contains(word) {
      throw UsageError("--state must be one of \(states.joined(separator: ", ")); found '\(word)'.")
    }
    let isOnline: Bool? = command.isSet(online) ? true : command.isSet(offline) ? false : nil
    return .compact(["state": JSONValue(command.value(state)), "online": JSONValue(isOnline)])
  }
}

/// How the `sim` verbs print what the control API answers.
enum SimOutput {
  typealias Row = (JSONSlice, CommandContext) -> [String]

  static func list(
    _ list: JSONSlice, _ command: ParsedCommand, _ context: CommandContext, header: [String], row: Row
  ) throws {
    guard !command.isSet(SimClient.json) else { return try context.show(JSONValue(list), command, SimClient.json) }
    let items = list["data"]?.elements ?? []
    var table = TextTable(header)
    for item in items { table.add(row(item, context)) }
    context.output.text(table.render(for: context.outputTerminal))
    if let next = list["nextCursor"]?.string {
      context.say(context.text(en: "There are more: --cursor \(next)", ko: "더 있습니다: --cursor \(next)"))
    }
    if let dropped = list["dropped"]?.int, dropped > 0 {
      context.say(
        context.text(
          en: "\(dropped) older ones were dropped to bound the memory; counts are exact all the same.",
          ko: "메모리 한도 때문에 오래된 \(dropped)개를 버렸습니다. 개수는 정확합니다."))
    }
  }

  static func one(
    _ item: JSONSlice, _ command: ParsedCommand, _ context: CommandContext, header: [String], row: Row
  ) throws {
    guard !command.isSet(SimClient.json) else { return try context.show(JSONValue(item), command, SimClient.json) }
    var table = TextTable(header)
    table.add(row(item, context))
    context.output.text(table.render(for: context.outputTerminal))
  }

  /// `08:01:50.123`, of the day in UTC.
  static func time(_ milliseconds: Int?) -> String {
    guard let milliseconds else { return "-" }
    return String(WallTime(milliseconds: Int64(milliseconds)).rfc3339.dropFirst(11).dropLast())
  }
}
