import HTTPServer
import PabalPrimitives

/// What OpenAPI says of the control API.
enum ControlOperations {
  private typealias Parameter = RouteOperation.Parameter
  private typealias Reply = RouteOperation.Reply

  private static let device = Parameter("id", in: .path, "device id")
  private static let page = [
    Parameter("limit", in: .query, "items of a page, 1 to 1000; default 100", schema: integer),
    Parameter("cursor", in: .query, "nextCursor of the page before"),
  ]
  private static let chosen = [
    Parameter("device", in: .query, "device id"), Parameter("token", in: .query, "device token in hex"),
  ]
  private static let integer: JSONValue = ["type": "integer"]
  private static let text: JSONValue = ["type": "string"]
  private static let flag: JSONValue = ["type": "boolean"]
  private static let environment: JSONValue = ["enum": ["sandbox", "production"]]
  private static let state: JSONValue = ["enum": ["registered", "unregistered", "expired"]]

  private static func object(_ properties: KeyValuePairs<String, JSONValue>) -> JSONValue {
    [
      "type": "object", "additionalProperties": false,
      "properties": .object(properties.map { JSONMember($0.key, $0.value) }),
    ]
  }

  private static func operation(
    _ id: String, _ summary: String, parameters: [Parameter] = [], request: JSONValue? = nil, status: Int = 200,
    answer: String, contentType: String = "application/json"
  ) -> RouteOperation {
    let schema: JSONValue? = status == 204 ? nil : contentType == "application/json" ? ["type": "object"] : text
    return RouteOperation(
      id, summary, tag: "simulator", parameters: parameters, request: request,
      replies: [Reply(status, answer, schema: schema, contentType: contentType)])
  }

  static let listDevices = operation(
    "listSimulatorDevices", "Virtual devices",
    parameters: [Parameter("token", in: .query, "device token in hex")] + page,
    answer: "a page of devices")
  static let createDevices = operation(
    "createSimulatorDevices", "Mint a device, adopt one, or mint many",
    request: object([
      "id": text, "token": text, "environment": environment, "topic": text, "state": state,
      "unregisteredAt": integer, "online": flag, "count": integer,
    ]), status: 201, answer: "the device; with count, a list under data")
  static let getDevice = operation("getSimulatorDevice", "One device", parameters: [device], answer: "the device")
  static let changeDevice = operation(
    "changeSimulatorDevice", "Uninstall, go offline, come back", parameters: [device],
    request: object(["state": state, "unregisteredAt": integer, "online": flag]), answer: "the device")
  static let deleteDevice = operation(
    "deleteSimulatorDevice", "Forget a device", parameters: [device], status: 204, answer: "forgotten")
  static let openLink = operation(
    "linkSimulatorDevice", "The device link: ready, push, replaced",
    parameters: [device, Parameter("Last-Event-ID", in: .header, "id of the last push that the phone has")],
    answer: "server-sent events", contentType: "text/event-stream")
  static let listInbox = operation(
    "listSimulatorInbox", "Pushes that APNs took, oldest first", parameters: chosen + page, answer: "a page of pushes")
  static let listRequests = operation(
    "listSimulatorRequests", "The wire log, oldest first",
    parameters: chosen + [
      Parameter("connection", in: .query, "number of a connection", schema: integer),
      Parameter("status", in: .query, "status replied", schema: integer),
      Parameter("reason", in: .query, "reason replied"),
      Parameter("since", in: .query, "milliseconds since 1970", schema: integer),
    ] + page, answer: "a page of requests")
  static let getStats = operation("getSimulatorStats", "Counts since start or reset", answer: "the counts")
  static let getFaults = operation("getSimulatorFaults", "Fault rules in force", answer: "the rules with their counts")
  static let setFaults = operation(
    "setSimulatorFaults", "Replace all fault rules",
    request: object(["seed": integer, "rules": ["type": "array", "items": ["type": "object"]]]),
    answer: "the rules with their counts")
  static let getSettings = operation(
    "getSimulatorSettings", "What of APNs' behaviour may be turned", answer: "the settings")
  static let changeSettings = operation(
    "changeSimulatorSettings", "Turn APNs' behaviour",
    request: object([
      "streamsBeforeToken": integer, "streamsAfterToken": integer, "streamsAfterError": integer,
      "errorsBeforeDisconnect": integer, "providerTokenScope": ["enum": ["key", "connection", "team"]],
      "providerTokenChanges": integer, "providerTokenWindowMs": integer, "providerTokenMaxAgeMs": integer,
      "idleTimeoutMs": integer, "log": ["enum": ["requests", "none"]],
    ]), answer: "the settings")
  static let getClock = operation("getSimulatorClock", "The time by which the stand-in judges", answer: "now and mode")
  static let moveClock = operation(
    "moveSimulatorClock", "Move, set, stop or release the clock",
    request: object(["advanceMs": integer, "set": integer, "mode": ["enum": ["real", "manual"]]]),
    answer: "now and mode")
  static let reset = operation(
    "resetSimulator", "Forget what happened; on demand the devices too", request: object(["devices": flag]),
    answer: "what was forgotten")
  static let getMedia = operation(
    "getSimulatorMedia", "A file to attach: sample.png, sample.mp4, lying.png, truncated.png",
    parameters: [
      Parameter("file", in: .path, "name of the file"),
      Parameter("status", in: .query, "another status than 200", schema: integer),
      Parameter("delayMs", in: .query, "milliseconds before the answer", schema: integer),
    ], answer: "the bytes", contentType: "application/octet-stream")
}
