import Delivery
import HTTPServer
import Observability
import PabalModel
import PabalPrimitives
import ServerAPI
import Storage
import Testing

/// The whole API over the store in memory, without a port. Sending is a script: what Apple answers to a token.
final class TestAPI: Sendable {
  enum Answer: Sendable {
    case accepted
    case refused(Int, String)
    case lost
    /// No outcome within the wait.
    case slow
  }

  static let secret = "pb_test_0123456789"
  static let publishable = "pp_test_0123456789"
  static let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb4bad"

  let clock = ManualClock()
  let storage: MemoryStorage
  let metrics = Metrics()
  let router: Router
  let api: PushAPI
  private let described: DescribedReply
  /// By token; `accepted` otherwise.
  let answers: Locked<[String: Answer]>
  /// Payloads that reached the dispatcher, in order.
  let sent: Locked<[OutgoingDelivery]>
  let waits: Locked<[Duration]>
  let adopted: Locked<[String]>

  init(
    storage: MemoryStorage = MemoryStorage(randomness: .seeded(3)), adoptionFails: Bool = false
  ) async throws {
    self.storage = storage
    let clock = self.clock
    let answers = Locked<[String: Answer]>([:])
    let sent = Locked<[OutgoingDelivery]>([])
    let waits = Locked<[Duration]>([])
    let adopted = Locked<[String]>([])
    self.answers = answers
    self.sent = sent
    self.waits = waits
    self.adopted = adopted
    let appMode = try await storage.openApp(named: "demo", mode: .test)
    let dispatcher = PushDispatcher { deliveries, wait, _ in
      waits.withLock { $0.append(wait) }
      var outcomes: [DeliveryOutcome] = []
      for delivery in deliveries {
        sent.withLock { $0.append(delivery) }
        let answer = answers.withLock { $0[delivery.token.hex] } ?? .accepted
        if let outcome = Self.outcome(answer, delivery, at: clock.clock.wall()) { outcomes.append(outcome) }
      }
      _ = try? await storage.recordOutcomes(outcomes)
    }
    let adoption: PushAPIConfiguration.Adoption = { token, topic, environment in
      if adoptionFails { throw APIError.internalFault() }
      adopted.withLock { $0.append("\(token.hex) \(topic.rawValue) \(environment?.rawValue ?? "-")") }
    }
    let configuration = PushAPIConfiguration(
      appName: "demo", appMode: appMode, keys: APIKeys(secret: Self.secret, publishable: Self.publishable),
      defaultTopic: Topic(rawValue: "com.example.demo"), version: "0.0.0", clock: clock.clock, metrics: metrics,
      readiness: { Readiness(checks: [Readiness.Check("store", isOK: true)]) },
      adopt: adoption)
    api = PushAPI(configuration: configuration, storage: storage, dispatcher: dispatcher)
    router = api.router()
    let document = await router.respond(to: try HTTPRequest(.get, "/openapi.json"))
    described = DescribedReply(document: try JSONSlice(parsing: document.bytes ?? []))
  }

  private static func outcome(_ answer: Answer, _ delivery: OutgoingDelivery, at now: WallTime) -> DeliveryOutcome? {
    let status: Int?
    let reason: String?
    let state: DeliveryState
    switch answer {
    case .accepted: (status, reason, state) = (200, nil, .accepted)
    case .refused(let code, let word): (status, reason, state) = (code, word, .rejected)
    case .lost: (status, reason, state) = (nil, nil, .unknown)
    case .slow: return nil
    }
    return DeliveryOutcome(
      key: delivery.key, state: state,
      reason: reason.map(ReasonCode.apns) ?? (state == .unknown ? .replyLost : nil), at: now, token: delivery.token,
      attempts: [
        AttemptRecord(
          number: 1, startedAt: now, duration: .milliseconds(38), environment: delivery.environment ?? .production,
          status: status, reason: reason, tokenDeadSince: nil, apnsID: delivery.apnsID, apnsUniqueID: nil,
          connection: "c1")
      ])
  }

  struct Reply {
    let status: Int
    let headers: [HTTPField]
    let text: String
    let json: JSONSlice

    subscript(_ key: String) -> JSONSlice? { json[key] }
    var code: String? { json["error"]?["code"]?.string ?? json["code"]?.string }
    var success: Bool? { json["success"]?.bool }
  }

  @discardableResult
  func call(
    _ method: HTTPMethod, _ target: String, _ body: String? = nil, key: String? = TestAPI.secret,
    headers: [HTTPField] = []
  ) async throws -> Reply {
    var headers = headers
    if let key { headers.append(HTTPField("Authorization", "Bearer \(key)")) }
    if body != nil { headers.append(HTTPField("Content-Type", "application/json")) }
    let request = try HTTPRequest(method, target, headers: headers, body: Array((body ?? "").utf8))
    let response = await router.respond(to: request)
    let bytes = response.bytes ?? []
    let json = try? JSONSlice(parsing: bytes)
    try hold(response, json, to: request)
    return Reply(
      status: response.status, headers: response.headers, text: String(decoding: bytes, as: UTF8.self),
      json: try json ?? JSONSlice(parsing: Array("null".utf8)))
  }

  /// Each reply of each test is held to what the document says of its route.
  private func hold(_ response: HTTPResponse, _ json: JSONSlice?, to request: HTTPRequest) throws {
    let fitting = api.routes.filter { $0.method == request.method && Self.fits(request.segments, $0.path) }
    let route = fitting.max { Self.literals($0.path) < Self.literals($1.path) }
    guard let route, route.path != "/openapi.json" else { return }
    let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value
    let findings = described.findings(
      request.method, path: route.path, status: response.status, contentType: type, body: json)
    #expect(findings.isEmpty)
  }

  private static func fits(_ segments: [String], _ template: String) -> Bool {
    let parts = template.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == segments.count
      && zip(parts, segments).allSatisfy { part, segment in
        part.contains("{") ? segment.hasPrefix(part.prefix { $0 != "{" }) : part == segment
      }
  }

  /// Characters of a path that are not a name in braces.
  private static func literals(_ template: String) -> Int {
    template.split(separator: "/").reduce(0) { $0 + $1.prefix { $0 != "{" }.count }
  }

  /// The guide's register call.
  @discardableResult
  func register(_ user: String, _ token: String = TestAPI.token) async throws -> Reply {
    try await call(
      .post, "/api/push/register", #"{"userId":"\#(user)","deviceToken":"\#(token)","platform":"ios"}"#, key: nil)
  }

  @discardableResult
  func talentRequest(_ receiver: String, request: String = "r_1") async throws -> Reply {
    try await call(
      .post, "/api/push/talent-request",
      #"{"receiverId":"\#(receiver)","requesterName":"민준","talentTitle":"기타","requestId":"\#(request)"}"#)
  }

  /// A token of 32 bytes that differs by its number.
  static func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.utf8.count) + digits
  }
}
