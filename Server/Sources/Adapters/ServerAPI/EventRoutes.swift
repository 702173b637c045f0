import HTTPServer
import PabalModel
import Observability
import PabalPrimitives
import Storage

extension PushAPI {
  /// What can be told of a delivery. Settings belong to no delivery: they are part of the device's registration.
  static let eventKinds: [EventKind] = [.received, .presented, .opened, .action, .dismissed, .converted, .custom]
  /// These say what happened by a name of the app's own.
  private static let namedKinds: Set<EventKind> = [.converted, .custom]
  /// Bytes of such a name, and of a number as it was written.
  static let eventNameBytes = 64
  /// Bytes of a reply typed by a user.
  static let eventTextBytes = 4096

  var eventRoutes: [Route] {
    [
      route(
        .post, "/v1/events", .publishable,
        RouteOperation(
          "reportEvents", "What became of notifications on a device; at most 500 in a call", tag: "Events",
          request: Schemas.reference("Events"),
          replies: [RouteOperation.Reply(202, "How many were taken", schema: Schemas.reference("EventsTaken"))]),
        reportEvents)
    ]
  }

  private func reportEvents(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    var fields = try RequestFields(request)
    guard let elements = try fields.array("events") else { throw APIError.missing("events") }
    try fields.finish()
    guard elements.count <= StorageLimits.eventsPerCall else {
      throw APIError.invalid("events", "may hold at most \(StorageLimits.eventsPerCall) events")
    }
    var events: [(index: Int, event: DeviceEvent)] = []
    var refused: [(index: Int, code: String, message: String)] = []
    for (index, element) in elements.enumerated() {
      // One event that is wrong must not keep the others from being told, nor be sent again for ever.
      do throws(APIError) {
        events.append((index, try event(element, "events[\(index)]")))
      } catch {
        refused.append((index, error.code, error.message))
      }
    }
    let results = try await storage.recordEvents(events.map(\.event))
    var accepted = 0
    var duplicates = 0
    for (result, event) in zip(results, events) {
      switch result {
      case .accepted, .opened:
        accepted += 1
        configuration.metrics.add(to: APIMetrics.events, [event.event.kind.rawValue])
        if case .opened(let first) = result {
          configuration.metrics.observe(first.delay.seconds, in: APIMetrics.openDelay, [first.frequencyClass])
        }
      case .duplicate: duplicates += 1
      case .unknownDelivery:
        refused.append((event.index, "delivery_not_found", "There is no such delivery of that message."))
      }
    }
    let rejected = refused.sorted { $0.index < $1.index }.map { refusal -> JSONValue in
      ["index": .int(Int64(refusal.index)), "code": .string(refusal.code), "message": .string(refusal.message)]
    }
    return .json(
      202,
      [
        "accepted": .int(Int64(accepted)), "duplicates": .int(Int64(duplicates)), "rejected": .array(rejected),
      ])
  }

  private func event(_ element: JSONSlice, _ path: String) throws(APIError) -> DeviceEvent {
    var fields = try RequestFields(element, path: path)
    let word = try fields.requiredString("kind")
    guard let kind = EventKind(rawValue: word), Self.eventKinds.contains(kind) else {
      throw .invalid(
        fields.name("kind"), "must be one of \(Self.eventKinds.map(\.rawValue).joined(separator: ", "))",
        hint: word == EventKind.settings.rawValue
          ? "What the user allows is told by PUT /v1/devices: permission and lockScreen." : nil)
    }
    let delivery = try fields.requiredString("deliveryId")
    let message = try fields.requiredString("messageId")
    guard let at = WallTime(rfc3339: try fields.requiredString("at")) else {
      throw .invalid(fields.name("at"), "must be a time such as 2026-12-01T01:01:11.000Z")
    }
    let eventID = try fields.requiredString("eventId")
    guard eventID.utf8.count <= 64 else { throw .invalid(fields.name("eventId"), "must have at most 64 bytes") }
    let action = try fields.short("action")
    let text = try fields.string("text")
    guard text?.utf8.count ?? 0 <= Self.eventTextBytes else {
      throw .invalid(fields.name("text"), "must have at most \(Self.eventTextBytes) bytes")
    }
    let (name, value) = Self.namedKinds.contains(kind) ? try Self.named(&fields) : (nil, nil)
    try fields.finish()
    return DeviceEvent(
      appMode: configuration.appMode, delivery: DeliveryID(rawValue: delivery),
      message: MessageID(rawValue: message), kind: kind, at: at, action: action, text: text, name: name,
      value: value, eventID: eventID, receivedAt: now)
  }

  /// `name`, and `value` where there is one: kept as the number was written, so that no sum of money is rounded.
  private static func named(_ fields: inout RequestFields) throws(APIError) -> (name: String?, value: String?) {
    let name = try fields.requiredString("name")
    guard name.utf8.count <= eventNameBytes, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw .invalid(fields.name("name"), "must have at most \(eventNameBytes) bytes and no control character")
    }
    guard let value = fields.value("value") else { return (name, nil) }
    guard value.kind == .number, value.bytes.count <= eventNameBytes else {
      throw .invalid(fields.name("value"), "must be a number of at most \(eventNameBytes) digits")
    }
    return (name, String(decoding: value.bytes, as: UTF8.self))
  }
}
