import HTTPServer
import PabalPrimitives

/// Reads and writes the rules of `PUT /v1/simulator/faults`, and of a scenario file, which holds the same.
enum FaultRuleText {
  private static let effects = [
    "status", "goaway", "reset", "drop", "silenceMs", "halfResponse", "maxConcurrentStreams", "slowRead",
  ]

  static func read(_ bytes: [UInt8]) throws(APIError) -> (rules: [FaultRule], seed: UInt64) {
    let body = try ControlBody(bytes, known: ["seed", "rules"])
    guard let list = body.value("rules") else { throw APIError.missing("rules", hint: #"{"rules":[]} clears."#) }
    guard list.kind == .array, list.elements.count <= StandInLimits.faultRules else {
      throw APIError.invalid("rules", "is not a list of at most \(StandInLimits.faultRules) rules")
    }
    var rules: [FaultRule] = []
    for (index, element) in list.elements.enumerated() {
      rules.append(try rule(element, at: "rules[\(index)]"))
    }
    return (rules, UInt64(try body.number("seed", 0...Int.max) ?? 1))
  }

  private static func rule(_ value: JSONSlice, at path: String) throws(APIError) -> FaultRule {
    let body = try ControlBody(value, known: ["match", "times", "then"], at: path)
    guard let then = body.value("then") else { throw APIError.missing("\(path).then") }
    var rule = try effect(then, at: "\(path).then")
    rule.times = try body.number("times", 1...Int.max)
    if let match = body.value("match") { rule.match = try self.match(match, at: "\(path).match") }
    return rule
  }

  private static func match(_ value: JSONSlice, at path: String) throws(APIError) -> FaultRule.Match {
    let known = ["device", "token", "environment", "path", "connection", "nth", "every", "rate"]
    let body = try ControlBody(value, known: known, at: path)
    var match = FaultRule.Match()
    match.device = try body.text("device")
    match.token = try body.token("token")
    match.environment = try body.word("environment", StandInEnvironment.self)
    match.path = try body.text("path")
    match.connection = try body.number("connection", 1...Int.max)
    match.nth = try body.number("nth", 1...Int.max)
    match.every = try body.number("every", 1...Int.max)
    if let rate = body.value("rate") {
      guard let number = rate.double, (0...1).contains(number) else {
        throw APIError.invalid("\(path).rate", "is not a number from 0 to 1")
      }
      match.rate = number
    }
    return match
  }

  private static func effect(_ value: JSONSlice, at path: String) throws(APIError) -> FaultRule {
    let body = try ControlBody(value, known: effects + ["reason", "timestamp", "taken", "delayMs"], at: path)
    let given = effects.filter { body.value($0) != nil }
    let delay = try body.number("delayMs", 0...StandInLimits.faultDelayMs) ?? 0
    guard given.count <= 1, given.count == 1 || delay > 0 else {
      throw APIError.invalid(path, "needs exactly one of \(effects.joined(separator: ", "))")
    }
    for name in ["reason", "timestamp", "taken"] where given.first != "status" && body.value(name) != nil {
      throw APIError.invalid("\(path).\(name)", "goes with status only")
    }
    return FaultRule(effect: try effect(given.first, body, at: path), delay: delay)
  }

  private static func effect(
    _ name: String?, _ body: ControlBody, at path: String
  ) throws(APIError) -> FaultRule.Effect {
    switch name {
    case "status":
      let status = try body.number("status", 200...599) ?? 503
      let timestamp = try body.number("timestamp", 0...Int.max).map(Int64.init)
      return .status(
        status, reason: try body.text("reason") ?? StandInReason.usual(for: status), timestamp: timestamp,
        taken: try body.flag("taken") ?? (status == 200))
    case "drop":
      return .drop(try body.word("drop", FaultRule.Moment.self) ?? .beforeTaken)
    case "silenceMs":
      return .silence(milliseconds: try body.number("silenceMs", 0...StandInLimits.faultDelayMs) ?? 0)
    case "maxConcurrentStreams":
      return .streamLimit(try body.number("maxConcurrentStreams", 0...100_000) ?? 1)
    case "halfResponse":
      guard try body.flag("halfResponse") == true else {
        throw APIError.invalid("\(path).halfResponse", "is true or left out")
      }
      return .halfReply
    case "slowRead":
      guard let value = body.value("slowRead") else { return .usual }
      let inner = try ControlBody(value, known: ["bytesPerSecond"], at: "\(path).slowRead")
      guard let rate = try inner.number("bytesPerSecond", 1...StandInLimits.slowReadRate) else {
        throw APIError.missing("\(path).slowRead.bytesPerSecond")
      }
      return .slowRead(bytesPerSecond: rate)
    case "goaway": return try goaway(body, at: path)
    case "reset": return try reset(body, at: path)
    default: return .usual
    }
  }

  private static func goaway(_ body: ControlBody, at path: String) throws(APIError) -> FaultRule.Effect {
    guard let value = body.value("goaway") else { return .usual }
    let inner = try ControlBody(value, known: ["lastStream", "reason", "debug", "close"], at: "\(path).goaway")
    let debug = try inner.text("debug").map { Array($0.utf8) }
    if debug != nil, inner.value("reason") != nil {
      throw APIError.invalid("\(path).goaway.debug", "does not go with reason, which is sent as {\"reason\":…}")
    }
    let reason = try inner.text("reason") ?? StandInReason.shutdown.word
    return .goaway(
      lastStream: try inner.word("lastStream", FaultRule.LastStream.self) ?? .accepted,
      debug: debug ?? StandInCore.goawayDebug(reason), close: try inner.word("close", FaultRule.Closing.self) ?? .drain)
  }

  private static func reset(_ body: ControlBody, at path: String) throws(APIError) -> FaultRule.Effect {
    guard let value = body.value("reset") else { return .usual }
    let inner = try ControlBody(value, known: ["code", "after"], at: "\(path).reset")
    let name = try inner.text("code") ?? "REFUSED_STREAM"
    guard let code = FaultRule.resetCodes.first(where: { $0.name == name })?.code else {
      let known = FaultRule.resetCodes.map(\.name).joined(separator: ", ")
      throw APIError.invalid("\(path).reset.code", "is none of \(known)")
    }
    switch try inner.text("after") ?? "body" {
    case "headers": return .resetAfterHeaders(code: code)
    case "body": return .reset(code: code, .beforeTaken)
    case "taken": return .reset(code: code, .afterTaken)
    default: throw APIError.invalid("\(path).reset.after", "is none of headers, body, taken")
    }
  }

  static func write(_ rule: FaultRule, fired: Int) -> JSONValue {
    let match = rule.match
    let then = effect(rule.effect) + (rule.delay > 0 ? [JSONMember("delayMs", .int(Int64(rule.delay)))] : [])
    return [
      "match": .compact([
        "device": JSONValue(match.device), "token": JSONValue(match.token.map { Hex.encode($0) }),
        "environment": JSONValue(match.environment?.rawValue), "path": JSONValue(match.path),
        "connection": JSONValue(match.connection), "nth": JSONValue(match.nth), "every": JSONValue(match.every),
        "rate": match.rate.map { .double($0) } ?? .null,
      ]),
      "times": JSONValue(rule.times),
      "then": .object(then),
      "fired": .int(Int64(fired)),
    ]
  }

  private static func effect(_ effect: FaultRule.Effect) -> [JSONMember] {
    switch effect {
    case .usual: return []
    case .status(let status, let reason, let timestamp, let taken):
      return [
        JSONMember("status", .int(Int64(status))), JSONMember("reason", JSONValue(reason)),
        JSONMember("timestamp", JSONValue(timestamp)), JSONMember("taken", .bool(taken)),
      ]
    case .goaway(let lastStream, let debug, let close):
      return [
        JSONMember(
          "goaway",
          .object([
            JSONMember("lastStream", .string(lastStream.rawValue)),
            JSONMember(debugName(debug), .string(debugText(debug))), JSONMember("close", .string(close.rawValue)),
          ]))
      ]
    case .reset(let code, let moment): return [reset(code, after: moment == .afterTaken ? "taken" : "body")]
    case .resetAfterHeaders(let code): return [reset(code, after: "headers")]
    case .halfReply: return [JSONMember("halfResponse", true)]
    case .slowRead(let rate): return [JSONMember("slowRead", ["bytesPerSecond": .int(Int64(rate))])]
    case .drop(let moment): return [JSONMember("drop", .string(moment.rawValue))]
    case .streamLimit(let limit): return [JSONMember("maxConcurrentStreams", .int(Int64(limit)))]
    case .silence(let milliseconds): return [JSONMember("silenceMs", .int(Int64(milliseconds)))]
    }
  }

  private static func reset(_ code: UInt32, after: String) -> JSONMember {
    let name = FaultRule.resetCodes.first { $0.code == code }?.name ?? "\(code)"
    return JSONMember("reset", ["code": .string(name), "after": .string(after)])
  }

  /// Debug data is shown as it was given: a reason, or text of its own.
  private static func debugName(_ debug: [UInt8]) -> String { reason(debug) == nil ? "debug" : "reason" }

  private static func debugText(_ debug: [UInt8]) -> String {
    reason(debug) ?? String(decoding: debug, as: UTF8.self)
  }

  private static func reason(_ debug: [UInt8]) -> String? {
    do throws(JSONError) {
      guard let reason = try JSONSlice(parsing: debug)["reason"]?.string else { return nil }
      return StandInCore.goawayDebug(reason) == debug ? reason : nil
    } catch {
      return nil
    }
  }
}
