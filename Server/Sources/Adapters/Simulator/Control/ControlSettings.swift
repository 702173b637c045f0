import HTTPServer
import PabalPrimitives

/// `GET` and `PATCH …/settings`: what of APNs' behaviour a user may turn.
extension StandInControl {
  static let settingNames = [
    "streamsBeforeToken", "streamsAfterToken", "streamsAfterError", "errorsBeforeDisconnect", "providerTokenScope",
    "providerTokenChanges", "providerTokenWindowMs", "providerTokenMaxAgeMs", "idleTimeoutMs", "log",
  ]

  func getSettings(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    return .json(200, Self.settings(core.withLock(\.rules)))
  }

  /// Changes the settings given; null means none where there may be none.
  func changeSettings(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let body = try ControlBody(request, known: Self.settingNames)
    guard !body.names.isEmpty else { throw APIError.missing("streamsAfterToken", hint: "Give at least one setting.") }
    let streams = 0...100_000
    var rules = core.withLock(\.rules)
    rules.streamsBeforeToken = try body.number("streamsBeforeToken", streams) ?? rules.streamsBeforeToken
    rules.streamsAfterToken = try body.number("streamsAfterToken", streams) ?? rules.streamsAfterToken
    try Self.change(&rules.streamsAfterError, body, "streamsAfterError", streams)
    try Self.change(&rules.errorsBeforeDisconnect, body, "errorsBeforeDisconnect", 1...1_000_000)
    rules.providerTokenScope =
      try body.word("providerTokenScope", StandInRules.TokenScope.self) ?? rules.providerTokenScope
    rules.providerTokenChanges = try body.number("providerTokenChanges", 0...1_000_000) ?? rules.providerTokenChanges
    let times = 1...StandInLimits.settingMs
    if let window = try body.number("providerTokenWindowMs", times) { rules.providerTokenWindowMs = Int64(window) }
    if let age = try body.number("providerTokenMaxAgeMs", times) { rules.providerTokenAgeSeconds = Int64(age / 1000) }
    var idle = rules.idleTimeoutMs.map { Int($0) }
    try Self.change(&idle, body, "idleTimeoutMs", times)
    rules.idleTimeoutMs = idle.map { Int64($0) }
    switch try body.text("log") {
    case nil: break
    case "requests": rules.logsRequests = true
    case "none": rules.logsRequests = false
    default: throw APIError.invalid("log", "is neither requests nor none")
    }
    let changed = rules
    perform(
      core.withLock { core in
        core.rules = changed
        return core.endIdleConnections()
      })
    return .json(200, Self.settings(changed))
  }

  private static func change(
    _ value: inout Int?, _ body: ControlBody, _ name: String, _ range: ClosedRange<Int>
  ) throws(APIError) {
    if body.isNull(name) { value = nil } else { value = try body.number(name, range) ?? value }
  }

  private static func settings(_ rules: StandInRules) -> JSONValue {
    [
      "streamsBeforeToken": .int(Int64(rules.streamsBeforeToken)),
      "streamsAfterToken": .int(Int64(rules.streamsAfterToken)),
      "streamsAfterError": JSONValue(rules.streamsAfterError),
      "errorsBeforeDisconnect": JSONValue(rules.errorsBeforeDisconnect),
      "providerTokenScope": .string(rules.providerTokenScope.rawValue),
      "providerTokenChanges": .int(Int64(rules.providerTokenChanges)),
      "providerTokenWindowMs": .int(rules.providerTokenWindowMs),
      "providerTokenMaxAgeMs": .int(rules.providerTokenAgeSeconds * 1000),
      "idleTimeoutMs": JSONValue(rules.idleTimeoutMs),
      "log": rules.logsRequests ? "requests" : "none",
    ]
  }
}
