import HTTPServer
import PabalPrimitives

/// The stand-in's things as the control API shows them.
enum ControlOutput {
  static func device(_ device: StandInDevice) -> JSONValue {
    [
      "id": .string(device.id),
      "token": .string(Hex.encode(device.token)),
      "environment": .string(device.environment.rawValue),
      "topic": .string(device.topic),
      "state": .string(device.state.word),
      "unregisteredAt": JSONValue(device.state.endedAt),
      "online": .bool(device.isOnline),
    ]
  }

  static func ready(_ device: StandInDevice) -> JSONValue {
    [
      "deviceId": .string(device.id),
      "token": .string(Hex.encode(device.token)),
      "environment": .string(device.environment.rawValue),
      "topic": .string(device.topic),
    ]
  }

  /// A push as a device link says it.
  static func linked(_ push: StandInPush) -> JSONValue {
    .object(common(push) + [JSONMember("payloadBase64", .string(Base64.encode(push.payload)))])
  }

  /// A push as the inbox lists it; `payload` is the body byte for byte.
  static func inboxItem(_ push: StandInPush, of device: StandInDevice) -> JSONValue {
    let head = [JSONMember("id", .string(push.id)), JSONMember("device", .string(device.id))]
    let tail = [
      JSONMember("payload", .raw(push.payload)),
      JSONMember("payloadBase64", .string(Base64.encode(push.payload))),
      JSONMember("state", .string(push.state.rawValue)),
    ]
    return .object(head + common(push) + tail)
  }

  private static func common(_ push: StandInPush) -> [JSONMember] {
    [
      JSONMember("apnsId", .string(push.apnsID)),
      JSONMember("apnsUniqueId", JSONValue(push.uniqueID)),
      JSONMember("topic", .string(push.topic)),
      JSONMember("pushType", JSONValue(push.pushType)),
      JSONMember("priority", .int(Int64(push.priority))),
      JSONMember("expiration", JSONValue(push.expiration)),
      JSONMember("collapseId", JSONValue(push.collapseID)),
      JSONMember("receivedAt", .int(push.receivedAt)),
    ]
  }

  static func request(_ entry: WireLogEntry) -> JSONValue {
    [
      "id": .int(Int64(entry.sequence)),
      "connection": .int(Int64(entry.connection.rawValue)),
      "environment": .string(entry.environment.rawValue),
      "stream": .int(Int64(entry.stream)),
      "headers": .array(entry.headers.map { [.string($0.name), .string($0.value)] }),
      "bodyBytes": .int(Int64(entry.bodyBytes)),
      "status": JSONValue(entry.status),
      "reason": JSONValue(entry.reason),
      "detail": JSONValue(entry.detail),
      "faultRule": JSONValue(entry.faultRule),
      "device": JSONValue(entry.device),
      "taken": .bool(entry.taken),
      "at": .int(entry.at),
    ]
  }

  static func statistics(_ core: StandInCore) -> JSONValue {
    let counts = core.statistics
    return [
      "taken": .int(Int64(counts.taken)),
      "requests": .int(Int64(counts.requests)),
      "byStatus": .object(
        counts.byStatus.sorted { $0.key < $1.key }.map { JSONMember("\($0.key)", .int(Int64($0.value))) }),
      "byReason": .object(counts.byReason.sorted { $0.key < $1.key }.map { JSONMember($0.key, .int(Int64($0.value))) }),
      "connections": .int(Int64(counts.connections)),
      "openConnections": .int(Int64(counts.openConnections)),
      "goaways": .int(Int64(counts.goaways)),
      "resets": .int(Int64(counts.resets)),
      "drops": .int(Int64(counts.drops)),
      "ignored": .int(Int64(counts.ignored)),
      "providerTokens": .int(Int64(counts.providerTokens)),
      "maxConcurrentSeen": .int(Int64(counts.maxConcurrentSeen)),
      "pings": .int(Int64(counts.pings)),
      "requestsDropped": .int(Int64(core.requestsDropped)),
      "pushesDropped": .int(Int64(core.pushesDropped)),
    ]
  }

  static func clock(_ core: StandInCore) -> JSONValue {
    ["now": .int(core.now), "mode": core.clockIsManual ? "manual" : "real"]
  }

  static func list(_ items: [JSONValue], next: Int?, extra: [JSONMember] = []) -> HTTPResponse {
    let cursor = next.map { JSONValue.string("\($0)") } ?? .null
    return .json(200, .object([JSONMember("data", .array(items)), JSONMember("nextCursor", cursor)] + extra))
  }
}
