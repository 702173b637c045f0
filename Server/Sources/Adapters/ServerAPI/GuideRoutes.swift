import Delivery
import HTTPServer
import PabalModel
import Observability
import PabalPrimitives
import Storage

// The guide's seven calls, with the guide's answers and more keys beside them. Success is 200 and only 200: its client
// takes nothing else.
extension PushAPI {
  /// How long a send route of the guide waits for the outcomes.
  static let guideWait = Duration.seconds(5)

  var guideRoutes: [Route] {
    let registered = [RouteOperation.Reply(200, "Registered", schema: Schemas.reference("GuideRegistered"))]
    let removed = [RouteOperation.Reply(200, "Removed, or never there", schema: Schemas.reference("GuideAnswer"))]
    let body = Schemas.reference("GuideRegistration")
    return [
      route(
        .post, "/api/push/register", .guideClient,
        RouteOperation("guideRegister", "Register a token", tag: "Guide", request: body, replies: registered),
        guideRegister),
      route(
        .post, "/device-token", .guideClient,
        RouteOperation(
          "guideDeviceToken", "Register a token, the guide's first form", tag: "Guide", request: body,
          replies: registered),
        guideRegister),
      route(
        .delete, "/api/push/unregister", .guideClient,
        RouteOperation("guideUnregister", "Forget a token", tag: "Guide", replies: removed), guideUnregister),
      route(
        .post, "/api/push/unregister", .guideClient,
        RouteOperation(
          "guideUnregisterByPost", "Forget a token, where DELETE loses its body", tag: "Guide", replies: removed),
        guideUnregister),
      guideSend("/api/push/talent-request", "talent_request", "guideTalentRequest", "Tell of a talent request"),
      guideSend("/api/push/message", "chat_message", "guideMessage", "Tell of a chat message"),
      guideSend("/api/push/review", "review", "guideReview", "Tell of a review"),
    ]
  }

  private func guideRegister(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let body = try RegistrationBody(request, .guide)
    let (result, inFlight) = try await register(body, installSecret: nil)
    return .json(
      200,
      .compact([
        "success": true, "message": "토큰 등록 완료", "deviceId": .string(result.device.id.rawValue),
        "status": .string(result.status.rawValue),
        "warnings": Self.ignored(body.ignored),
        "inFlight": JSONValue(inFlight),
      ]), headers: Self.openIdentity)
  }

  /// Logging out must not fail: an unknown token is `absent`, another user's stays and is `not_owner`.
  private func guideUnregister(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    var fields = try RequestFields(request)
    let user = try request.queryValue("userId") ?? fields.guideText("userId")
    let text = try request.queryValue("deviceToken") ?? fields.requiredString("deviceToken")
    let result = try await storage.unregister(
      DeviceUnregistration(
        appMode: configuration.appMode, user: Self.user(user, "userId"), token: Self.token(text, "deviceToken"),
        at: now))
    var device: DeviceID?
    var inFlight = 0
    let status: String
    switch result {
    case .removed(let id):
      (device, status) = (id, "removed")
      inFlight = try await dispatcher.reconsider([.user(Self.user(user, "userId"))])
    case .absent: status = "absent"
    case .notOwner: status = "not_owner"
    }
    configuration.metrics.add(to: APIMetrics.deviceChanges, [status, "unregistration"])
    return .json(
      200,
      .compact([
        "success": true, "message": "토큰 삭제 완료", "status": .string(status), "deviceId": JSONValue(device?.rawValue),
        "inFlight": .int(Int64(inFlight)),
      ]), headers: Self.openIdentity)
  }

  private func guideSend(_ path: String, _ name: String, _ id: String, _ summary: String) -> Route {
    guard let type = ShippedTypes.all[name] else { preconditionFailure("the type \(name) is shipped") }
    let operation = RouteOperation(
      id, summary, tag: "Guide", request: Schemas.guideSend(type),
      replies: [RouteOperation.Reply(200, "What became of it", schema: Schemas.reference("GuideSent"))])
    return route(.post, path, .secret, operation) { request, _ in
      var fields = try RequestFields(request)
      let receiver = try Self.user(fields.guideText("receiverId"), "receiverId")
      let data = try TypeData.read(type, name: { $0 }, value: { fields.raw($0) })
      let draft = MessageDraft(
        users: [receiver], content: PushContent(type: type, data: data), source: "guide",
        words: ["type": .string(name), "data": .object(data.keys.sorted().map { JSONMember($0, fields.words($0)) })])
      let sent = try await send(draft, request, wait: Self.guideWait)
      guard let message = try await storage.message(sent.id, in: configuration.appMode) else {
        throw APIError.internalFault()
      }
      return try await guideAnswer(
        message, receiver, isDuplicate: sent.isDuplicate,
        warnings: fields.unasked.isEmpty ? .null : Self.ignored(fields.unasked))
    }
  }

  /// What the guide's server would have passed over in silence.
  private static func ignored(_ names: [String]) -> JSONValue {
    .array(names.map { .string("'\($0)' is unknown here and was ignored.") })
  }

  /// Every device of the receiver is in exactly one of sent, failed, pending, unknown and suppressed.
  private func guideAnswer(
    _ message: MessageRecord, _ receiver: UserID, isDuplicate: Bool, warnings: JSONValue
  ) async throws -> HTTPResponse {
    let deliveries = try await storage.deliveries(
      of: message.identity.id, to: receiver, in: configuration.appMode, page: .whole)
    let decision = message.decisions.first { $0.user == receiver }
    let tally = GuideTally(deliveries, decision: decision)
    return .json(200, tally.answer(message.identity.id, isDuplicate: isDuplicate, warnings: warnings))
  }
}

extension RequestFields {
  /// The member as it was written; null when absent.
  fileprivate mutating func words(_ key: String) -> JSONValue {
    raw(key).map(JSONValue.init) ?? .null
  }
}
