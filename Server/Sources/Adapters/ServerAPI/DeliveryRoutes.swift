import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

extension PushAPI {
  var deliveryRoutes: [Route] {
    let id = RouteOperation.Parameter("id", in: .path, "`dlv_…`")
    return [
      route(
        .get, "/v1/deliveries", .secret,
        RouteOperation(
          "listDeliveries", "The deliveries of a message or of a user; one of both is needed", tag: "Deliveries",
          parameters: [
            RouteOperation.Parameter("messageId", in: .query, "Of this message"),
            RouteOperation.Parameter("userId", in: .query, "To this user, newest first"),
          ] + ListQuery.parameters,
          replies: [RouteOperation.Reply(200, "The deliveries", schema: Schemas.list(of: "Delivery"))]),
        listDeliveries),
      route(
        .get, "/v1/deliveries/{id}", .secret,
        RouteOperation(
          "getDelivery", "A delivery", tag: "Deliveries", parameters: [id],
          replies: [RouteOperation.Reply(200, "The delivery", schema: Schemas.reference("Delivery"))])
      ) { request, _ in
        try .json(200, deliveryValue(await trace(request).delivery))
      },
      route(
        .get, "/v1/deliveries/{id}/trace", .secret,
        RouteOperation(
          "traceDelivery", "What was decided, tried and reported, in order", tag: "Deliveries", parameters: [id],
          replies: [RouteOperation.Reply(200, "The trace", schema: Schemas.reference("Trace"))])
      ) { request, _ in
        try .json(200, traceValue(await trace(request)))
      },
    ]
  }

  private func listDeliveries(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let query = try ListQuery(request, filters: ["messageId", "userId"], now: now)
    let user = try request.queryValue("userId").map { try Self.user($0, "userId") }
    if let id = request.queryValue("messageId") {
      return try await deliveries(
        of: message(MessageID(rawValue: id)), to: user, query, url: "/v1/deliveries")
    }
    guard let user else {
      throw APIError.missing("messageId", hint: "Name a message or a user; there is no list of everything.")
    }
    let deliveries = try await storage.deliveries(to: user, in: configuration.appMode, page: Self.deliveryPage(query))
    return page(deliveries, query, url: "/v1/deliveries", id: \.id.rawValue, value: deliveryValue)
  }

  func deliveries(
    of message: MessageRecord, to user: UserID?, _ query: ListQuery, url: String
  ) async throws -> HTTPResponse {
    let deliveries = try await storage.deliveries(
      of: message.identity.id, to: user, in: configuration.appMode, page: Self.deliveryPage(query))
    return page(deliveries, query, url: url, id: \.id.rawValue, value: deliveryValue)
  }

  private static func deliveryPage(_ query: ListQuery) -> ListPage<DeliveryID> {
    ListPage(after: query.after.map(DeliveryID.init(rawValue:)), limit: query.limit + 1)
  }

  private func trace(_ request: HTTPRequest) async throws -> DeliveryTrace {
    let id = DeliveryID(rawValue: request.parameters["id"] ?? "")
    guard let trace = try await storage.trace(of: id, in: configuration.appMode) else {
      throw APIError.notFound("delivery_not_found", "There is no such delivery.", hint: Self.keptFor)
    }
    return trace
  }

  func deliveryValue(_ delivery: DeliveryRecord) -> JSONValue {
    .compact([
      "id": .string(delivery.id.rawValue), "object": "delivery", "mode": mode,
      "messageId": .string(delivery.messageID.rawValue), "userId": .string(delivery.user.rawValue),
      "deviceId": .string(delivery.device.rawValue), "state": .string(delivery.state.rawValue),
      "reason": JSONValue(delivery.reason?.rawValue), "attempts": .int(Int64(delivery.attempts.last?.number ?? 0)),
      "receivedAt": JSONValue(Self.time(of: .received, delivery)),
      "openedAt": JSONValue(Self.time(of: .opened, delivery)),
      "createdAt": .string(delivery.createdAt.rfc3339), "updatedAt": .string(delivery.updatedAt.rfc3339),
    ])
  }

  private static func time(of kind: EventKind, _ delivery: DeliveryRecord) -> String? {
    delivery.events.first { $0.kind == kind }?.at.rfc3339
  }

  func traceValue(_ trace: DeliveryTrace) -> JSONValue {
    let delivery = trace.delivery
    return .compact([
      "object": "trace", "deliveryId": .string(delivery.id.rawValue),
      "messageId": .string(delivery.messageID.rawValue), "userId": .string(delivery.user.rawValue),
      "deviceId": .string(delivery.device.rawValue), "state": .string(delivery.state.rawValue),
      "reason": JSONValue(delivery.reason?.rawValue), "steps": .array(trace.steps.map { Self.step($0) }),
    ])
  }

  static func step(_ step: TraceStep, basis: String? = nil) -> JSONValue {
    .compact([
      "at": .string(step.at.rfc3339), "step": .string(step.step.rawValue), "result": .string(step.result.rawValue),
      "basis": JSONValue(basis), "detail": step.detail,
    ])
  }
}
