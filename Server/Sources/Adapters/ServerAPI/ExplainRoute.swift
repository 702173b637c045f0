import Delivery
import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

extension PushAPI {
  /// How many of a user's newest messages are searched for one of a type.
  static let explainedMessages = 50

  var explainRoutes: [Route] {
    [
      route(
        .get, "/v1/explain", .secret,
        RouteOperation(
          "explain", "Why did this user get a message, or not?", tag: "Explain",
          parameters: [
            RouteOperation.Parameter("userId", in: .query, "Whose; or `deviceId`"),
            RouteOperation.Parameter("deviceId", in: .query, "The device of the user who asks"),
            RouteOperation.Parameter("messageId", in: .query, "Which message"),
            RouteOperation.Parameter("type", in: .query, "Or: the newest message of this type, `content` included"),
          ],
          replies: [
            RouteOperation.Reply(200, "The answer", schema: Schemas.reference("Explanation")),
            RouteOperation.Reply(404, "There is no such device.", schema: Schemas.reference("Error")),
          ]),
        explain)
    ]
  }

  private func explain(_ request: HTTPRequest, _ caller: Caller) async throws -> HTTPResponse {
    try Self.allowQuery(request, ["userId", "deviceId", "messageId", "type"])
    let user = try await explainedUser(request)
    guard let id = try await explainedMessage(request, user) else {
      return .json(200, Self.neverAsked(user, message: request.queryValue("messageId")))
    }
    let explanation = try await storage.explanation(of: id, for: user, in: configuration.appMode)
    guard let explanation, explanation.decision != nil else {
      return .json(200, Self.neverAsked(user, message: id.rawValue))
    }
    return .json(200, Explanation(explanation, user).value)
  }

  private func explainedUser(_ request: HTTPRequest) async throws -> UserID {
    if let text = request.queryValue("userId") { return try Self.user(text, "userId") }
    guard let id = request.queryValue("deviceId") else {
      throw APIError.missing("userId", hint: "Or give a deviceId.")
    }
    let device = try await storage.device(DeviceID(rawValue: id), in: configuration.appMode)
    guard let user = device?.user else {
      throw APIError.notFound("device_not_found", "There is no such device, or nobody is signed in on it.")
    }
    return user
  }

  private func explainedMessage(_ request: HTTPRequest, _ user: UserID) async throws -> MessageID? {
    if let id = request.queryValue("messageId") { return MessageID(rawValue: id) }
    guard let type = request.queryValue("type") else {
      throw APIError.missing("messageId", hint: "Or give a type: the newest message of it is explained.")
    }
    // A misspelt type was never asked for either, and that would be no answer.
    guard type == "content" || ShippedTypes.all[type] != nil else { throw MessageBody.noSuchType(more: ["content"]) }
    return try await storage.newestMessage(
      of: type, to: user, among: Self.explainedMessages, in: configuration.appMode)?.id
  }

  private static func neverAsked(_ user: UserID, message: String?) -> JSONValue {
    let sentence = Sentence(
      "Nobody asked this server to send that to this user, or it ended more than \(keptDays) days ago.",
      "이 사용자에게 그 알림을 보내 달라는 요청이 없었거나, 끝난 지 \(keptDays)일이 지났습니다.")
    return .compact([
      "object": "explanation", "userId": .string(user.rawValue), "messageId": JSONValue(message),
      "answer": .string(AnswerClass.neverAsked.rawValue), "basis": "recorded", "sentence": sentence.value,
      "steps": [], "devices": [],
      "suggestions": [["kind": "call", "value": .string("GET /v1/messages?userId=\(user.rawValue)")]],
    ])
  }
}

/// The answer for one user and one message: the best of his devices, each of them, and the steps of the way.
struct Explanation {
  let message: MessageRecord
  let decision: DecisionRecord?
  let traces: [DeliveryTrace]
  let user: UserID

  init(_ explanation: UserExplanation, _ user: UserID) {
    message = explanation.message
    decision = explanation.decision
    traces = explanation.traces.sorted {
      AnswerClass($0.delivery).order < AnswerClass($1.delivery).order
    }
    self.user = user
  }

  /// The device with which the user came off best.
  private var best: DeliveryTrace? { traces.first }

  private var answer: AnswerClass {
    if decision?.reason != nil { return .weChoseNotTo }
    return best.map { AnswerClass($0.delivery) } ?? .weChoseNotTo
  }

  private var reason: ReasonCode? {
    decision?.reason ?? best?.delivery.reason ?? (answer == .providerAccepted ? .notConfirmed : nil)
  }

  var value: JSONValue {
    let words = reason.map(ReasonSentence.of)
    return .compact([
      "object": "explanation", "userId": .string(user.rawValue), "messageId": .string(message.identity.id.rawValue),
      "type": .string(message.type), "answer": .string(answer.rawValue), "reason": JSONValue(reason?.rawValue),
      "basis": "recorded", "sentence": (words?.what ?? answer.sentence).value, "steps": .array(steps),
      "devices": .array(traces.map(device)), "suggestions": .array(words.map { [Self.suggestion($0)] } ?? []),
    ])
  }

  /// The recorded steps, and those that were never come to.
  private var steps: [JSONValue] {
    let recorded = best?.steps ?? decision?.steps ?? []
    let seen = Set(recorded.map(\.step))
    let last = recorded.last.flatMap { PipelineStep.allCases.firstIndex(of: $0.step) } ?? -1
    let missed = PipelineStep.allCases.enumerated().filter { $0.offset > last && !seen.contains($0.element) }
    return recorded.map { PushAPI.step($0, basis: "recorded") }
      + missed.map { ["step": .string($0.element.rawValue), "result": "not_reached", "basis": "derived"] }
  }

  private func device(_ trace: DeliveryTrace) -> JSONValue {
    let delivery = trace.delivery
    return .compact([
      "deviceId": .string(delivery.device.rawValue), "deliveryId": .string(delivery.id.rawValue),
      "answer": .string(AnswerClass(delivery).rawValue), "state": .string(delivery.state.rawValue),
      "reason": JSONValue(delivery.reason?.rawValue), "updatedAt": .string(delivery.updatedAt.rfc3339),
      "apnsId": JSONValue(delivery.attempts.last?.apnsID),
      "apnsUniqueId": JSONValue(delivery.attempts.last?.apnsUniqueID),
    ])
  }

  private static func suggestion(_ words: ReasonSentence) -> JSONValue {
    ["kind": "advice", "value": words.advice.value]
  }
}

extension Sentence {
  var value: JSONValue { ["en": .string(english), "ko": .string(korean)] }
}

extension AnswerClass {
  /// What there is to say without a reason code.
  fileprivate var sentence: Sentence {
    switch self {
    case .opened: Sentence("The user opened it.", "사용자가 열람했습니다.")
    case .received: Sentence("The phone received it.", "기기에서 수신을 확인했습니다.")
    case .providerAccepted: Sentence("Apple took it.", "Apple이 접수했습니다.")
    case .stillWaiting: Sentence("It is on its way.", "보내는 중입니다.")
    case .weDoNotKnow: Sentence("Whether Apple took it is unknown.", "Apple이 받았는지 알 수 없습니다.")
    case .providerRefused: Sentence("Apple refused it.", "Apple이 거부했습니다.")
    case .weChoseNotTo: Sentence("It was not sent.", "보내지 않았습니다.")
    case .neverAsked: Sentence("Nobody asked for it.", "요청이 없었습니다.")
    }
  }
}
