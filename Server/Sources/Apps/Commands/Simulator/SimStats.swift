import ArgumentParsing
import PabalPrimitives

/// `pabal sim stats`: what a stand-in has counted.
enum SimStats {
  static let definition = CommandDefinition(
    "stats", summary: "show what a stand-in has counted",
    examples: [
      CommandExample("pabal sim stats", "since its start, or since `pabal sim reset`"),
      CommandExample("pabal sim stats --json=taken,requests", "two of the counts"),
    ],
    options: [SimClient.json, SimClient.control],
    notes: ["Counts are exact, also of requests and pushes that are no longer kept."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    guard let stats = try await client.call("GET", "/stats") else { return .done }
    guard !command.isSet(SimClient.json) else {
      try context.show(JSONValue(stats), command, SimClient.json)
      return .done
    }
    var table = TextTable(["COUNT", "VALUE"])
    for member in stats.members { add(member.name, member.value, to: &table) }
    context.output.text(table.render(for: context.outputTerminal))
    return .done
  }

  /// `byStatus.200` for a count of a group.
  private static func add(_ name: String, _ value: JSONSlice, to table: inout TextTable) {
    if let number = value.int {
      table.add([name, String(number)])
    } else {
      for member in value.members { add("\(name).\(member.name)", member.value, to: &table) }
    }
  }
}
