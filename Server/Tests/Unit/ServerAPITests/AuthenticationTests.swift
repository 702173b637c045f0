import HTTPServer
import PabalPrimitives
import Testing

@Suite struct AuthenticationTests {
  static let send = #"{"receiverId":"u","requesterName":"a","talentTitle":"b","requestId":"c"}"#

  @Test(
    "who may send by the guide's routes",
    arguments: [
      (nil, 401, "key_missing"), ("Bearer pp_test_0123456789", 403, "scope_missing"),
      ("pp_test_0123456789", 403, "scope_missing"), ("Bearer pb_live_0123456789", 401, "key_invalid"),
      ("Bearer pb_test_012345678", 401, "key_invalid"), ("Bearer pb_test_01234567890", 401, "key_invalid"),
      ("eyJhbGciOiJIUzI1NiJ9.e30.x", 401, "key_invalid"), ("Bearer pb_test_0123456789", 200, nil),
      ("bearer pb_test_0123456789", 200, nil), ("pb_test_0123456789", 200, nil),
    ] as [(String?, Int, String?)])
  func send(_ authorization: String?, _ status: Int, _ code: String?) async throws {
    let api = try await TestAPI()
    let headers = authorization.map { [HTTPField("Authorization", $0)] } ?? []
    let reply = try await api.call(.post, "/api/push/talent-request", Self.send, key: nil, headers: headers)
    #expect(reply.status == status)
    #expect(reply.code == code)
    if status != 200 { #expect(reply.success == false) }
    if status == 401 { #expect(reply.headers.contains(HTTPField("WWW-Authenticate", "Bearer"))) }
  }

  @Test("a key that claims to be ours must be right, also on the guide's open routes")
  func wrongKeyOnOpenRoute() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .post, "/api/push/register", #"{"userId":"u","deviceToken":"\#(TestAPI.token)","platform":"ios"}"#,
      key: "pb_live_x")
    #expect(reply.status == 401)
    #expect(reply.code == "key_invalid")
  }

  @Test(
    "/v1 needs a key, and most of it the secret one",
    arguments: [
      (HTTPMethod.get, "/v1/devices?userId=u"), (.get, "/v1/messages?userId=u"), (.get, "/v1/explain?userId=u&type=x"),
      (.get, "/v1/deliveries?userId=u"), (.post, "/v1/messages"), (.delete, "/v1/devices/dev_1"),
    ])
  func v1(_ method: HTTPMethod, _ target: String) async throws {
    let api = try await TestAPI()
    let none = try await api.call(method, target, key: nil)
    #expect(none.status == 401)
    #expect(none.json["error"]?["type"]?.string == "authentication")
    let publishable = try await api.call(method, target, key: TestAPI.publishable)
    #expect(publishable.status == 403)
    #expect(publishable.code == "scope_missing")
    #expect(publishable.json["error"]?["requestId"]?.string?.hasPrefix("req_") == true)
  }

  @Test func anIdempotencyKeyIsRefusedUntilItIsKept() async throws {
    let api = try await TestAPI()
    for path in ["/api/push/talent-request", "/v1/messages"] {
      let reply = try await api.call(.post, path, Self.send, headers: [HTTPField("Idempotency-Key", "k")])
      #expect(reply.status == 400)
      #expect(reply.code == "idempotency_unsupported")
    }
    #expect(api.sent.withLock { $0.isEmpty })
    for (method, path) in [(HTTPMethod.put, "/v1/devices"), (.put, "/notification-preferences?userId=u")] {
      let reply = try await api.call(method, path, "{}", headers: [HTTPField("Idempotency-Key", "k")])
      #expect(reply.code == "idempotency_unsupported", "never ignored")
    }
  }

  @Test("OC-84 no token, key or text stands in a refusal or in the metrics")
  func secrets() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let planted = ["\"민준", TestAPI.token, TestAPI.secret, TestAPI.publishable, "plantedtext"]
    var replies: [String] = []
    replies.append(
      try await api.call(
        .post, "/v1/messages", #"{"to":{"userIds":["u"]},"content":{"body":"plantedtext"},"tpyo":1}"#
      ).text)
    replies.append(
      try await api.call(
        .post, "/v1/messages", #"{"to":{"userIds":["u"]},"content":{"body":"plantedtext"}}"#
      ).text)
    replies.append(try await api.call(.get, "/v1/devices?userId=u").text)
    replies.append(try await api.call(.get, "/v1/messages?userId=u", key: TestAPI.secret + "x").text)
    replies.append(try await api.register("u", TestAPI.token + "0").text)
    replies.append(try await api.call(.get, "/metrics", key: nil).text)
    for reply in replies {
      for secret in planted { #expect(!reply.contains(secret), "\(secret) in \(reply)") }
    }
    #expect(api.sent.withLock { $0.count } == 1)
  }
}
