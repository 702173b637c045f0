import ArgumentParsing
import PabalPrimitives

/// `pabal sim inbox`: what the phones of a stand-in got.
enum SimInbox {
  private static let device = OptionDefinition("device", .value("ID"), "of one device")
  private static let token = OptionDefinition("token", .value("TOKEN"), "of the device with this token")

  static let definition = CommandDefinition(
    "inbox", summary: "list the pushes that a stand-in took",
    examples: [
      CommandExample("pabal sim inbox", "of all devices, oldest first"),
      CommandExample("pabal sim inbox --device dev_1 --json", "of one, payloads included"),
    ],
    options: [device, token, SimClient.limit, SimClient.cursor, SimClient.json, SimClient.control])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    let query = [("device", command.value(device)), ("token", command.value(token))]
    let list = try await client.list("/inbox", command, query: query)
    let header = ["TIME", "DEVICE", "STATE", "TYPE", "TITLE", "BODY"]
    try SimOutput.list(list, command, context, header: header) { push, _ in
      let alert = push["payload"]?["aps"]?["alert"]
      return [
        SimOutput.time(push["receivedAt"]?.int), push["device"]?.string ?? "", push["state"]?.string ?? "",
        push["pushType"]?.string ?? "-", alert?["title"]?.string ?? "", alert?.string ?? alert?["body"]?.string ?? "",
      ]
    }
    return .done
  }
}

/// `pabal sim requests`: what arrived at a stand-in, and how it was judged.
enum SimRequests {
  private static let device = OptionDefinition("device", .value("ID"), "to one device")
  private static let token = OptionDefinition("token", .value("TOKEN"), "to the device with this token")
  private static let status = OptionDefinition("status", .value("N"), "answered with this status")
  private static let reason = OptionDefinition("reason", .value("WORD"), "answered with this reason of Apple's")
  private static let connection = OptionDefinition("connection", .value("N"), "on this connection")
  private static let since = OptionDefinition("since", .value("WHEN"), "UNIX milliseconds, or RFC 3339")

  static let definition = CommandDefinition(
    "requests", summary: "list the requests that a stand-in saw, with its verdicts",
    examples: [
      CommandExample("pabal sim requests", "all that are kept"),
      CommandExample("pabal sim requests --status 403 --json", "refused ones, headers included"),
    ],
    options: [
      device, token, status, reason, connection, since, SimClient.limit, SimClient.cursor, SimClient.json,
      SimClient.control,
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    let query: [(String, String?)] = [
      ("device", command.value(device)), ("token", command.value(token)),
      ("status", try command.integer(status, in: 100...599).map(String.init)), ("reason", command.value(reason)),
      ("connection", try command.integer(connection, in: 1...Int.max).map(String.init)),
      ("since", try command.value(since).map(SimClock.milliseconds).map(String.init)),
    ]
    let list = try await client.list("/requests", command, query: query)
    let header = ["TIME", "CONNECTION", "STREAM", "DEVICE", "STATUS", "REASON", "BYTES", "DETAIL"]
    try SimOutput.list(list, command, context, header: header) { request, _ in
      let number = { (name: String) in request[name]?.int.map(String.init) ?? "-" }
      return [
        SimOutput.time(request["at"]?.int), number("connection"), number("stream"), request["device"]?.string ?? "-",
        number("status"), request["reason"]?.string ?? "-", number("bodyBytes"), request["detail"]?.string ?? "",
      ]
    }
    return .done
  }
}
