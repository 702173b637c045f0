import ArgumentParsing
import PabalPrimitives

/// `pabal send --user`: a message through the server, which knows the user's devices and wishes.
enum SendToUsers {
  static let user = OptionDefinition("user", .list("ID"), "through the server: whom to send to")
  static let type = OptionDefinition("type", .value("NAME"), "through the server: a notification type")
  static let data = OptionDefinition("data", .list("NAME=VALUE"), "through the server: values of the type's texts")
  static let wait = OptionDefinition("wait", .flag, "through the server: wait up to 10 s for the outcome")
  static let options = [user, type, data, wait]

  private static let shared = [SendOptions.title, SendOptions.body, SendOptions.json]

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let allowed = options + shared
    if let foreign = SendOptions.direct.first(where: { command.isSet($0) && !allowed.contains($0) }) {
      throw UsageError("--\(foreign.name) goes with --device, not with --user: the server has its own.")
    }
    let fields = try command.value(SendOptions.json).map(JSONFields.init)
    let client = ServerClient(try ServerProfile(environment: context.environment))
    let path = "/v1/messages" + (command.isSet(wait) ? "?wait=10" : "")
    let message = try await client.call("POST", path, body: try body(command))
    if command.isSet(SendOptions.json) {
      let bytes = Array(message.bytes)
      context.output.line(String(decoding: fields.map { $0.pick(from: bytes) } ?? bytes, as: UTF8.self))
    } else {
      show(message, command, context)
    }
    return command.isSet(wait) ? exitCode(message) : .done
  }

  private static func body(_ command: ParsedCommand) throws(UsageError) -> JSONValue {
    var values: [JSONMember] = []
    for pair in command.list(data) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError("--data must be NAME=VALUE, found '\(parts[0])'.")
      }
      values.append(JSONMember(parts[0], .string(parts[1])))
    }
    let content = JSONValue.compact([
      "title": JSONValue(command.value(SendOptions.title)), "body": JSONValue(command.value(SendOptions.body)),
    ])
    guard command.isSet(type) || content != .object([]) else {
      throw UsageError("What to send is missing. Give -t TITLE and -b TEXT, or --type NAME.")
    }
    return .compact([
      "to": ["userIds": .array(command.list(user).map { .string($0) })],
      "type": JSONValue(command.value(type)),
      "data": values.isEmpty ? .null : .object(values),
      "content": content == .object([]) ? .null : content,
    ])
  }

  private static func show(_ message: JSONSlice, _ command: ParsedCommand, _ context: CommandContext) {
    let id = message["id"]?.string ?? ""
    context.output.line(id)
    let deliveries = message["counts"]?["deliveries"]?.members ?? []
    let states = deliveries.compactMap { state in
      state.name == "total" ? nil : state.value.int.flatMap { $0 > 0 ? "\($0) \(state.name)" : nil }
    }
    let suppressed = message["counts"]?["users"]?["suppressed"]?.members ?? []
    let words = states + suppressed.map { "\($0.value.int ?? 0) not sent: \($0.name)" }
    if !words.isEmpty { context.say(words.joined(separator: ", ")) }
    if let first = command.list(user).first { context.say("pabal why \(first) \(id) tells its story.") }
  }

  /// 0 when all that was tried is accepted and something was.
  private static func exitCode(_ message: JSONSlice) -> ExitCode {
    guard message["state"]?.string == "completed" else { return .timedOut }
    let deliveries = message["counts"]?["deliveries"]
    let total = deliveries?["total"]?.int ?? 0
    return total > 0 && deliveries?["accepted"]?.int == total ? .done : .partial
  }
}
