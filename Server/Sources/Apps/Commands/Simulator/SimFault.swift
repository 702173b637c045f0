import ArgumentParsing
import PabalModel
import PabalPrimitives

/// `pabal sim fault`: what a stand-in shall do wrong.
enum SimFault {
  private static let file = OptionDefinition("file", .value("FILE|-"), "rules as the API takes them: {\"rules\":[…]}")
  private static let clear = OptionDefinition("clear", .flag, "no faults any more")
  private static let seed = OptionDefinition("seed", .value("N"), "of --rate; default 1")

  private static let status = OptionDefinition("status", .value("N"), "answer with this status")
  private static let reason = OptionDefinition("reason", .value("WORD"), "its reason; default: the usual one")
  private static let taken = OptionDefinition("taken", .flag, "with --status: the push is taken all the same")
  private static let goaway = OptionDefinition(
    "goaway", .optionalValue("LAST"), "send GOAWAY; LAST is accepted (default), all or none",
    choices: ["accepted", "all", "none"])
  private static let close = OptionDefinition(
    "close", .value("WHEN"), "with --goaway: now, drain (default) or never", choices: ["now", "drain", "never"])
  private static let reset = OptionDefinition("reset", .value("CODE"), "reset the stream, e.g. REFUSED_STREAM")
  private static let after = OptionDefinition(
    "after", .value("WHEN"), "with --reset: headers, body (default) or taken", choices: ["headers", "body", "taken"])
  private static let drop = OptionDefinition(
    "drop", .value("WHEN"), "close TCP beforeTaken or afterTaken", choices: ["beforeTaken", "afterTaken"])
  private static let silence = OptionDefinition("silence", .value("DURATION"), "do not answer so long")
  private static let halfResponse = OptionDefinition("half-response", .flag, "send headers and no end")
  private static let streams = OptionDefinition("max-streams", .value("N"), "allow so many streams from now on")
  private static let slowRead = OptionDefinition("slow-read", .value("N"), "read so many bytes a second")
  private static let delay = OptionDefinition("delay", .value("DURATION"), "before what it does, or alone")

  private static let device = OptionDefinition("device", .value("ID"), "only for this device")
  private static let token = OptionDefinition("token", .value("TOKEN"), "only for this token")
  private static let environment = OptionDefinition(
    "environment", .value("NAME"), "only in sandbox or production", choices: PushEnvironment.allCases.map(\.rawValue))
  private static let connection = OptionDefinition("connection", .value("N"), "only on this connection")
  private static let nth = OptionDefinition("nth", .value("N"), "only the Nth request that fits")
  private static let every = OptionDefinition("every", .value("N"), "only each Nth request that fits")
  private static let rate = OptionDefinition("rate", .value("P"), "by chance, 0 to 1")
  private static let times = OptionDefinition("times", .value("N"), "so often; default: always")

  private static let effects = [status, goaway, reset, drop, silence, halfResponse, streams, slowRead]

  static let definition = CommandDefinition(
    "fault", summary: "make a stand-in fail in a given way",
    examples: [
      CommandExample("pabal sim fault --status 503 --reason Shutdown --every 10", "each tenth request"),
      CommandExample("pabal sim fault --goaway --nth 2500", "in the middle of a run"),
      CommandExample("pabal sim fault --drop afterTaken --times 1", "a reply that is lost"),
      CommandExample("pabal sim fault --file faults.json", "several rules, as in `sim serve --scenario`"),
      CommandExample("pabal sim fault", "the rules in force, with how often each fired"),
      CommandExample("pabal sim fault --clear", "well-behaved again"),
    ],
    options: [
      file, clear, seed, status, reason, taken, goaway, close, reset, after, drop, silence, halfResponse, streams,
      slowRead, delay, device, token, environment, connection, nth, every, rate, times, SimClient.json,
      SimClient.control,
    ],
    notes: ["Rules replace those in force. docs/simulator-api.md describes them."])

  /// A scenario with the most rules that a stand-in takes is far below.
  private static let fileBytes = 1 << 20

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let client = try SimClient(command, context)
    let body = try rules(command)
    let answer = try await (body == nil ? client.call("GET", "/faults") : client.call("PUT", "/faults", body: body))
    guard let answer else { return .done }
    guard !command.isSet(SimClient.json) else {
      try context.show(JSONValue(answer), command, SimClient.json)
      return .done
    }
    var table = TextTable(["RULE", "FIRED", "TIMES", "MATCH", "THEN"])
    for (index, rule) in (answer["rules"]?.elements ?? []).enumerated() {
      table.add([
        String(index), rule["fired"]?.int.map(String.init) ?? "0", rule["times"]?.int.map(String.init) ?? "-",
        rule["match"].map(words) ?? "", rule["then"].map(words) ?? "",
      ])
    }
    context.output.text(table.render(for: context.outputTerminal))
    return .done
  }

  /// `device=dev_1 nth=3`.
  private static func words(_ object: JSONSlice) -> String {
    object.members.filter { !$0.value.isNull }.map { member in
      "\(member.name)=\(member.value.string ?? String(decoding: member.value.bytes, as: UTF8.self))"
    }.joined(separator: " ")
  }

  /// What to put; `nil` when only to look.
  private static func rules(_ command: ParsedCommand) throws(UsageError) -> JSONValue? {
    let given = effects.filter(command.isSet)
    let sources = (command.isSet(file) ? 1 : 0) + (command.isSet(clear) ? 1 : 0)
    let isRule = !given.isEmpty || command.isSet(delay)
    guard sources + (isRule ? 1 : 0) <= 1 else {
      throw UsageError("Give a fault by flags, --file FILE or --clear: one of them.")
    }
    if let path = command.value(file) { return try read(path) }
    if command.isSet(clear) { return ["rules": []] }
    guard isRule else {
      let details = [
        reason, taken, close, after, device, token, environment, connection, nth, every, rate, times, seed,
      ]
      if let lost = details.first(where: command.isSet) {
        throw UsageError("--\(lost.name) needs a fault beside it, such as --status 503 or --goaway.")
      }
      return nil
    }
    guard given.count <= 1 else {
      throw UsageError("A rule has one effect: --\(given[0].name) or --\(given[1].name), or both in a --file.")
    }
    for (detail, owner) in [(reason, status), (taken, status), (close, goaway), (after, reset)]
    where command.isSet(detail) && !command.isSet(owner) {
      throw UsageError("--\(detail.name) goes with --\(owner.name).")
    }
    let rule = JSONValue.compact([
      "match": try match(command), "times": JSONValue(try command.integer(times, in: 1...Int.max)),
      "then": try effect(command),
    ])
    return .compact(["seed": JSONValue(try command.integer(seed, in: 0...Int.max)), "rules": .array([rule])])
  }

  private static func read(_ path: String) throws(UsageError) -> JSONValue {
    let bytes = try InputFile.contents(of: path, what: "The scenario", limit: fileBytes)
    do throws(JSONError) {
      return JSONValue(try JSONSlice(parsing: bytes))
    } catch {
      throw UsageError("The scenario \(path): \(error.message)", code: error.code)
    }
  }

  private static func match(_ command: ParsedCommand) throws(UsageError) -> JSONValue {
    var chance = JSONValue.null
    if let text = command.value(rate) {
      guard let number = Double(text), (0...1).contains(number) else {
        throw UsageError("--rate must be a number from 0 to 1, found '\(text)'.")
      }
      chance = .double(number)
    }
    return .compact([
      "device": JSONValue(command.value(device)), "token": JSONValue(command.value(token)),
      "environment": JSONValue(try command.choice(environment, of: PushEnvironment.self)?.rawValue),
      "connection": JSONValue(try command.integer(connection, in: 1...Int.max)),
      "nth": JSONValue(try command.integer(nth, in: 1...Int.max)),
      "every": JSONValue(try command.integer(every, in: 1...Int.max)), "rate": chance,
    ])
  }

  private static func effect(_ command: ParsedCommand) throws(UsageError) -> JSONValue {
    let goawayRule = JSONValue.compact([
      "lastStream": JSONValue(command.value(goaway)), "close": JSONValue(command.value(close)),
    ])
    return .compact([
      "status": JSONValue(try command.integer(status, in: 200...599)), "reason": JSONValue(command.value(reason)),
      "taken": command.isSet(taken) ? true : .null, "goaway": command.isSet(goaway) ? goawayRule : .null,
      "reset": command.value(reset).map { code in
        .compact(["code": .string(code), "after": JSONValue(command.value(after))])
      } ?? .null,
      "drop": JSONValue(command.value(drop)),
      "silenceMs": JSONValue(try command.duration(silence).map(\.milliseconds)),
      "halfResponse": command.isSet(halfResponse) ? true : .null,
      "maxConcurrentStreams": JSONValue(try command.integer(streams, in: 0...100_000)),
      "slowRead": try command.integer(slowRead, in: 1...Int.max).map { ["bytesPerSecond": JSONValue($0)] } ?? .null,
      "delayMs": JSONValue(try command.duration(delay).map(\.milliseconds)),
    ])
  }
}
