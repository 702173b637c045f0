import ArgumentParsing
import PabalPrimitives

/// `pabal status`: whether the server serves, check by check.
enum Status {
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  static let definition = CommandDefinition(
    "status", summary: "whether the server is ready, check by check",
    examples: [CommandExample("pabal status", "of the server that this folder's profile names")],
    options: [json], plannedOptions: ["watch"],
    notes: ["Exit code 0 when it serves, 6 when a check failed, 7 when nobody answers."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = ServerClient(try ServerProfile(environment: context.environment))
    let (status, body) = try await client.answer("GET", "/readyz")
    guard status == 200 || status == 503, let body else { throw ServerError(status: status, body: body) }
    if command.isSet(json) {
      let fields = try command.value(json).map(JSONFields.init)
      let bytes = Array(body.bytes)
      context.output.line(String(decoding: fields.map { $0.pick(from: bytes) } ?? bytes, as: UTF8.self))
    } else {
      var table = TextTable(["CHECK", "STATE", "REASON"])
      for check in body["checks"]?.members ?? [] {
        let isGood = check.value["ok"]?.bool ?? false
        table.add([check.name, isGood ? "ok" : "failed", check.value["reason"]?.string ?? ""])
      }
      context.output.text(table.render(for: context.outputTerminal))
      context.say(body["status"]?.string ?? "")
    }
    return status == 200 && body["status"]?.string == "ok" ? .done : .partial
  }
}
