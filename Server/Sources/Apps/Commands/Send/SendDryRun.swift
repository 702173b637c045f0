import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives
import ProviderTransport

/// `--dry-run`: what would be sent, line by line, without a connection.
enum SendDryRun {
  static func run(_ plan: SendPlan, _ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let isJSON = command.isSet(SendOptions.json)
    let fields = try command.value(SendOptions.json).map(JSONFields.init)
    let interrupted = Locked(false)
    context.signals.onSignal { _ in interrupted.withLock { $0 = true } }
    let source = try SendSource(
      plan, terms: SendTerms(plan, now: context.clock.wall()), journal: nil, clock: context.clock,
      randomness: context.randomness, isStopped: { interrupted.withLock { $0 } })
    var summary = SendSummary()
    summary.duplicates = plan.list.duplicates
    var ready = 0
    while true {
      let block = await OwnThread.run { source.next(SendTokens.blockSize) }
      for line in block.ended {
        summary.count(line)
        if isJSON { write(line, fields, context) } else { say(line, context) }
      }
      for (index, entry) in block.entries.enumerated() {
        let (head, body) = block.batch.contents(at: index)
        if isJSON {
          write(object(entry, head, body), fields, context)
        } else if ready == 0 {
          show(head, body, context)
        }
        ready += 1
      }
      if let failure = block.failure { throw failure }
      if block.isLast { break }
    }
    guard ready + summary.total > 0 else {
      throw UsageError("The device list \(plan.list.name) holds no tokens: put one on each line. Nothing was sent.")
    }
    if isJSON {
      context.output.append(json(summary, ready: ready) + [UInt8(ascii: "\n")])
    } else if !command.isSet(SendOptions.quiet) {
      context.say("Dry run: nothing was sent to \(ready) \(ready == 1 ? "device" : "devices").")
    }
    context.output.flush()
    if interrupted.withLock({ $0 }) { return .interrupted }
    return summary.exitCode
  }

  private static func write(_ line: OutcomeLine, _ fields: JSONFields?, _ context: CommandContext) {
    var bytes: [UInt8] = []
    line.appendJSON(OutcomeField.allCases, to: &bytes)
    context.output.append((fields?.pick(from: bytes) ?? bytes) + [UInt8(ascii: "\n")])
  }

  private static func write(_ object: JSONValue, _ fields: JSONFields?, _ context: CommandContext) {
    let bytes = object.encoded
    context.output.append((fields?.pick(from: bytes) ?? bytes) + [UInt8(ascii: "\n")])
  }

  private static func object(_ entry: SendTokens.Entry, _ head: APNsHead, _ body: [UInt8]) -> JSONValue {
    .object([
      JSONMember("line", JSONValue(entry.line)), JSONMember("device", .string(entry.token.hex)),
      JSONMember("state", "dry_run"), JSONMember("headers", headers(head)),
      JSONMember("payload", .raw(oneLine(body))),
      JSONMember("bytes", JSONValue(body.count)),
    ])
  }

  private static func headers(_ head: APNsHead) -> JSONValue {
    .object(head.headers.map { JSONMember($0.name, .string($0.value)) })
  }

  /// Line breaks stand between the parts of a payload only, never inside a string.
  private static func oneLine(_ payload: [UInt8]) -> [UInt8] {
    payload.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
  }

  private static func json(_ summary: SendSummary, ready: Int) -> [UInt8] {
    guard case .object(var members) = summary.json else { return summary.json.encoded }
    for index in members.indices {
      if members[index].name == "total" { members[index].value = JSONValue(summary.total + ready) }
      if members[index].name == "states", case .object(let states) = members[index].value {
        members[index].value = .object([JSONMember("dry_run", JSONValue(ready))] + states)
      }
    }
    return JSONValue.object(members).encoded
  }

  private static func say(_ line: OutcomeLine, _ context: CommandContext) {
    context.say("Line \(line.line): \(line.state.rawValue), \(line.reason?.rawValue ?? "")")
  }

  private static func show(_ head: APNsHead, _ body: [UInt8], _ context: CommandContext) {
    for header in head.headers { context.output.line("\(header.name): \(header.value)") }
    context.output.line(String(decoding: body, as: UTF8.self))
    context.say("\(body.count) of \(head.pushType.maximumPayloadBytes) bytes")
  }
}
