import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

extension PushAPI {
  /// The longest `?wait=`, in seconds.
  static let waitMaximum = 10

  var messageRoutes: [Route] {
    let id = RouteOperation.Parameter("id", in: .path, "`msg_…`")
    let user = RouteOperation.Parameter("userId", in: .query, "Whose", required: true)
    return [
      route(
        .post, "/v1/messages", .secret,
        RouteOperation(
          "sendMessage", "Notify named users", tag: "Messages",
          parameters: [
            RouteOperation.Parameter(
              "wait", in: .query, "Seconds to wait for the outcomes",
              schema: ["type": "integer", "minimum": 0, "maximum": 10, "default": 0])
          ],
          request: Schemas.reference("MessageRequest"),
          replies: [RouteOperation.Reply(202, "Accepted", schema: Schemas.reference("Message"))]),
        sendMessage),
      route(
        .get, "/v1/messages", .secret,
        RouteOperation(
          "listMessages", "The newest messages that name a user", tag: "Messages",
          parameters: [user] + ListQuery.parameters,
          replies: [RouteOperation.Reply(200, "Newest first", schema: Schemas.list(of: "Message"))]),
        listMessages),
      route(
        .get, "/v1/messages/{id}", .secret,
        RouteOperation(
          "getMessage", "A message", tag: "Messages", parameters: [id],
          replies: [RouteOperation.Reply(200, "The message", schema: Schemas.reference("Message"))])
      ) { request, _ in
        try .json(200, messageValue(await message(MessageID(rawValue: request.parameters["id"] ?? "")).summary))
      },
      route(
        .get, "/v1/messages/{id}/deliveries", .secret,
        RouteOperation(
          "listMessageDeliveries", "Its deliveries", tag: "Messages", parameters: [id] + ListQuery.parameters,
          replies: [RouteOperation.Reply(200, "In the order of acceptance", schema: Schemas.list(of: "Delivery"))])
      ) { request, _ in
        let query = try ListQuery(request, now: now)
        let message = try await message(MessageID(rawValue: request.parameters["id"] ?? ""))
        return try await deliveries(of: message, to: nil, query, url: request.path)
      },
    ]
  }

  private func sendMessage(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    try Self.allowQuery(request, ["wait"])
    let wait = try Self.wait(request)
    let body = try MessageBody(request)
    let sent = try await send(body.draft, request, wait: wait)
    let value = try messageValue(await message(sent.id).summary)
    guard case .object(var members) = value else { return .json(202, value) }
    members.append(JSONMember("duplicate", .bool(sent.isDuplicate)))
    if !sent.duplicates.isEmpty {
      let list = sent.duplicates.sorted { $0.key.rawValue < $1.key.rawValue }.map { user, message -> JSONValue in
        ["userId": .string(user.rawValue), "messageId": .string(message.rawValue)]
      }
      members.append(JSONMember("duplicates", .array(list)))
    }
    return .json(202, .object(members))
  }

  private static func wait(_ request: HTTPRequest) throws(APIError) -> Duration {
    guard let text = request.queryValue("wait") else { return .zero }
    guard let seconds = Int(text), (0...waitMaximum).contains(seconds) else {
      throw .invalid("wait", "must be a number of seconds from 0 to \(waitMaximum)")
    }
    return .seconds(seconds)
  }

  private func listMessages(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    let query = try ListQuery(request, filters: ["userId"], now: now)
    guard let text = request.queryValue("userId") else { throw APIError.missing("userId") }
    let messages = try await storage.messages(
      to: Self.user(text, "userId"), in: configuration.appMode,
      page: ListPage(after: query.after.map(MessageID.init(rawValue:)), limit: query.limit + 1))
    return page(messages, query, url: "/v1/messages", id: \.identity.id.rawValue, value: messageValue)
  }

  func message(_ id: MessageID) async throws -> MessageRecord {
    guard let message = try await storage.message(id, in: configuration.appMode) else {
      throw APIError.notFound("message_not_found", "There is no such message.", hint: Self.keptFor)
    }
    return message
  }

  /// Why a message that there was may be missing.
  static let keptFor = "A message and its deliveries are kept for \(keptDays) days after its last outcome."
  static let keptDays = Retention.message.components.seconds / 86_400

  /// Never the texts: they are the users' and stay sealed.
  func messageValue(_ message: MessageSummary) -> JSONValue {
    let suppressed = message.decisions.compactMap { reason, users in
      reason.map { JSONMember($0.rawValue, .int(Int64(users))) }
    }
    let users = message.decisions.values.reduce(0, +)
    let states = DeliveryState.allCases.compactMap { state in
      message.counts[state].map { JSONMember(state.rawValue, .int(Int64($0))) }
    }
    let total = message.counts.values.reduce(0, +)
    let id = message.identity.id.rawValue
    return .compact([
      "id": .string(id), "object": "message", "mode": mode,
      "state": message.isComplete ? "completed" : "sending", "type": .string(message.type),
      "category": JSONValue(message.category), "source": .string(message.source),
      "createdAt": .string(message.createdAt.rfc3339), "expiresAt": JSONValue(message.lifetime?.end?.rfc3339),
      "requestId": JSONValue(message.requestID), "audience": ["users": .int(Int64(users))],
      "counts": [
        "users": [
          "eligible": .int(Int64(message.decisions[nil] ?? 0)),
          "suppressed": .object(suppressed.sorted { $0.name < $1.name }),
        ],
        "deliveries": .object([JSONMember("total", .int(Int64(total)))] + states),
      ],
      "links": ["deliveries": .string("/v1/messages/\(id)/deliveries")],
    ])
  }
}
