import HTTPServer
import PabalPrimitives

extension StandInControl {
  func setFaults(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    let (rules, seed) = try FaultRuleText.read(request.body)
    perform(core.withLock { $0.setFaults(rules, seed: seed) })
    return faultList()
  }

  func getFaults(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    return faultList()
  }

  private func faultList() -> HTTPResponse {
    let (rules, seed) = core.withLock { ($0.activeFaults, $0.faultSeed) }
    return .json(
      200,
      [
        "seed": .int(Int64(clamping: seed)),
        "rules": .array(rules.map { FaultRuleText.write($0.rule, fired: $0.fired) }),
      ])
  }

  func getClock(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    _ = try ControlQuery(request, known: [])
    return .json(200, core.withLock { ControlOutput.clock($0) })
  }

  /// One of `advanceMs`, `set`, `mode`.
  func moveClock(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let body = try ControlBody(request, known: ["advanceMs", "set", "mode"])
    guard body.names.count == 1 else { throw APIError.invalid("body", "needs exactly one of advanceMs, set, mode") }
    // A century each way: further would leave what dates can say.
    let century = 100 * 366 * 86_400_000
    if let step = try body.number("advanceMs", -century...century) {
      core.withLock { $0.advanceClock(milliseconds: Int64(step)) }
    }
    if let time = try body.number("set", 0...(100 * century)) {
      core.withLock { $0.setClock(milliseconds: Int64(time)) }
    }
    switch try body.text("mode") {
    case nil: break
    case "manual": core.withLock { $0.stopClock() }
    case "real": core.withLock { $0.runClock() }
    default: throw APIError.invalid("mode", "is neither real nor manual")
    }
    perform(core.withLock { $0.endIdleConnections() })
    return .json(200, core.withLock { ControlOutput.clock($0) })
  }

  func reset(_ request: HTTPRequest) throws(APIError) -> HTTPResponse {
    let body = try ControlBody(request, known: ["devices"])
    let devicesToo = try body.flag("devices") ?? false
    perform(core.withLock { $0.reset(devicesToo: devicesToo) })
    return .json(200, ["reset": true, "devices": .bool(devicesToo)])
  }

  /// `sample.png`, `sample.mp4`, `lying.png` (a JPEG), `truncated.png`; with another status or a delay on demand.
  func media(_ request: HTTPRequest) async throws(APIError) -> HTTPResponse {
    let query = try ControlQuery(request, known: ["status", "delayMs"])
    guard let file = StandInMedia(rawValue: request.parameters["file"] ?? "") else {
      let known = StandInMedia.allCases.map(\.rawValue).joined(separator: ", ")
      throw APIError.notFound("media_not_found", "There is no such file; there are \(known).")
    }
    let status = try query.number("status", 200...599) ?? 200
    if let delay = try query.number("delayMs", 0...StandInLimits.mediaDelayMs), delay > 0 { await wait(delay) }
    guard status == 200 else { return HTTPResponse(status: status) }
    return HTTPResponse(
      status: 200, headers: [HTTPField("Content-Type", file.contentType)], body: .bytes(file.bytes))
  }
}
