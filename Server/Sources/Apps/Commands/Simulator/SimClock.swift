import ArgumentParsing
import PabalPrimitives

/// `pabal sim clock`: the time by which a stand-in judges tokens, expirations and ages.
enum SimClock {
  private static let advance = OptionDefinition("advance", .value("DURATION"), "move it, e.g. 21m or 1h")
  private static let set = OptionDefinition("set", .value("WHEN"), "UNIX milliseconds, or RFC 3339")
  private static let mode = OptionDefinition(
    "mode", .value("MODE"), "manual stops it, real lets it run", choices: ["manual", "real"])

  static let definition = CommandDefinition(
    "clock", summary: "read or move the clock of a stand-in",
    examples: [
      CommandExample("pabal sim clock", "what time it is there"),
      CommandExample("pabal sim clock --advance 61m", "provider tokens are expired from here on"),
      CommandExample("pabal sim clock --set 2027-01-01T00:00:00Z", "another day"),
    ],
    options: [advance, set, mode, SimClient.json, SimClient.control])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    let given = [advance, set, mode].filter(command.isSet)
    guard given.count <= 1 else { throw UsageError("Give one of --advance, --set and --mode.") }
    if let word = command.value(mode), word != "manual", word != "real" {
      throw UsageError("--mode must be manual or real; found '\(word)'.")
    }
    let body = JSONValue.compact([
      "advanceMs": JSONValue(try command.duration(advance).map(\.milliseconds)),
      "set": JSONValue(try command.value(set).map(milliseconds)), "mode": JSONValue(command.value(mode)),
    ])
    let clock = try await (given.isEmpty ? client.call("GET", "/clock") : client.call("POST", "/clock", body: body))
    guard let clock else { return .done }
    guard !command.isSet(SimClient.json) else {
      try context.show(JSONValue(clock), command, SimClient.json)
      return .done
    }
    let now = WallTime(milliseconds: Int64(clock["now"]?.int ?? 0)).rfc3339
    context.output.line("\(now)\t\(clock["mode"]?.string ?? "")")
    return .done
  }

  /// - Throws: `usage` for what is neither a number of milliseconds nor RFC 3339.
  static func milliseconds(_ text: String) throws(UsageError) -> Int64 {
    if let number = Int64(text), number >= 0 { return number }
    guard let time = WallTime(rfc3339: text) else {
      throw UsageError("'\(text)' is no time. Give UNIX milliseconds, or RFC 3339 such as 2026-12-01T09:00:00Z.")
    }
    return time.milliseconds
  }
}

/// `pabal sim reset`: a stand-in forgets what happened.
enum SimReset {
  private static let devices = OptionDefinition("devices", .flag, "the devices too")

  static let definition = CommandDefinition(
    "reset", summary: "make a stand-in forget pushes, requests, counts and faults",
    examples: [
      CommandExample("pabal sim reset", "between two tests; the devices stay"),
      CommandExample("pabal sim reset --devices", "an empty stand-in"),
    ],
    options: [devices, SimClient.json, SimClient.control])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    let answer = try await client.call("POST", "/reset", body: ["devices": .bool(command.isSet(devices))])
    guard command.isSet(SimClient.json), let answer else {
      context.say(context.text(en: "Forgotten.", ko: "모두 지웠습니다."))
      return .done
    }
    try context.show(JSONValue(answer), command, SimClient.json)
    return .done
  }
}
