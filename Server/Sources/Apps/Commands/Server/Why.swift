import ArgumentParsing
import PabalPrimitives

/// `pabal why USER [MESSAGE]`: the story of one message for one user.
enum Why {
  private static let type = OptionDefinition("type", .value("NAME"), "the newest message of this type")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "the answer as the API gives it")

  static let definition = CommandDefinition(
    "why", summary: "explain why a user got a message, or not",
    examples: [
      CommandExample("pabal why demo-jiwon", "the newest message to that user"),
      CommandExample("pabal why demo-jiwon msg_01KBD3N2", "one message"),
      CommandExample("pabal why demo-jiwon --type talent_request", "the newest of one type"),
    ],
    options: [type, json],
    operands: [
      OperandDefinition("USER", "the user's id, as your backend knows it"),
      OperandDefinition("MESSAGE", isRequired: false, "id of the message; default: the newest to the user"),
    ],
    notes: ["Exit code 0 means that an answer was found, whatever it is."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = ServerClient(try ServerProfile(environment: context.environment))
    let user = command.operands[0]
    guard let query = try await query(command, user, client) else {
      throw ServerError(
        "message_not_found", "Nobody has asked this server to send anything to \(user).", .notFound)
    }
    let answer = try await client.call("GET", "/v1/explain?userId=\(ServerClient.escape(user))&\(query)")
    if command.isSet(json) {
      let fields = try command.value(json).map(JSONFields.init)
      let bytes = Array(answer.bytes)
      context.output.line(String(decoding: fields.map { $0.pick(from: bytes) } ?? bytes, as: UTF8.self))
    } else {
      show(answer, user, context)
    }
    return .done
  }

  private static func query(_ command: ParsedCommand, _ user: String, _ client: ServerClient) async throws -> String? {
    if command.operands.count > 1 { return "messageId=\(ServerClient.escape(command.operands[1]))" }
    if let type = command.value(type) { return "type=\(ServerClient.escape(type))" }
    let newest = try await client.call("GET", "/v1/messages?userId=\(ServerClient.escape(user))&limit=1")
    return newest["data"]?.elements.first?["id"]?.string.map { "messageId=\(ServerClient.escape($0))" }
  }

  private static func show(_ answer: JSONSlice, _ user: String, _ context: CommandContext) {
    let output = context.output
    let sentence = text(answer["sentence"], context) ?? answer["answer"]?.string ?? ""
    let message = answer["messageId"]?.string ?? ""
    output.line("\(user)  \(message)  \(answer["type"]?.string ?? "")")
    output.line(sentence)
    if let reason = answer["reason"]?.string { output.line("\(context.text(en: "Reason", ko: "이유"))  \(reason)") }
    output.line("")
    for step in answer["steps"]?.elements ?? [] {
      let result = step["result"]?.string ?? ""
      let name = step["step"]?.string ?? ""
      let padding = String(repeating: " ", count: max(1, 12 - DisplayWidth.of(name)))
      output.line("  \(mark(result, context)) \(name)\(padding)\(result)\(detail(step))")
    }
    for device in answer["devices"]?.elements ?? [] {
      let parts = [device["deviceId"]?.string, device["state"]?.string, device["reason"]?.string]
      output.line("  " + parts.compactMap { $0 }.joined(separator: "  "))
    }
    let advice = (answer["suggestions"]?.elements ?? []).compactMap { suggestion in
      suggestion["value"].flatMap { text($0, context) }
    }
    guard !advice.isEmpty else { return }
    output.line("")
    output.line(context.text(en: "What you can do", ko: "할 수 있는 일"))
    for line in advice { output.line("  \(line)") }
  }

  /// A plain text, or the one in the reader's language.
  private static func text(_ value: JSONSlice?, _ context: CommandContext) -> String? {
    value?.string ?? value?[context.language.rawValue]?.string
  }

  private static func mark(_ result: String, _ context: CommandContext) -> String {
    switch result {
    case "ok", "accepted", "applied": context.outputTerminal.mark(.good)
    case "not_reached", "not_configured": context.outputTerminal.hasUnicode ? "–" : "-"
    case "stop", "rejected", "expired": context.outputTerminal.mark(.bad)
    default: context.outputTerminal.mark(.attention)
    }
  }

  private static func detail(_ step: JSONSlice) -> String {
    let members = step["detail"]?.members ?? []
    let words = members.map { "\($0.name) \($0.value.string ?? String(decoding: $0.value.bytes, as: UTF8.self))" }
    return words.isEmpty ? "" : "   " + words.joined(separator: ", ")
  }
}
