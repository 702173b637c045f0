import HTTPServer
import PabalModel
import PabalPrimitives
import Storage
import Testing

@Suite struct GuideRegistrationTests {
  @Test("a recorded register call of the guide's client, its own token without Bearer")
  func register() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .post, "/api/push/register",
      #"""
      {"userId":"u_48213","deviceToken":"\#(TestAPI.token)","platform":"ios",\#
      "appVersion":"2.4.0","osVersion":"18.1","deviceModel":"iPhone17,3"}
      """#,
      key: nil, headers: [HTTPField("Authorization", "eyJhbGciOiJIUzI1NiJ9.e30.x")])
    #expect(reply.status == 200)
    #expect(reply.success == true)
    #expect(reply["message"]?.string == "토큰 등록 완료")
    #expect(reply["status"]?.string == "created")
    #expect(reply["deviceId"]?.string?.hasPrefix("dev_") == true)
    #expect(reply["warnings"]?.elements.isEmpty == true)
    #expect(api.adopted.withLock { $0 } == ["\(TestAPI.token) com.example.demo -"])
    let again = try await api.register("u_48213")
    #expect(again["status"]?.string == "unchanged")
    #expect(again["deviceId"]?.string == reply["deviceId"]?.string)
  }

  @Test func theSimpleFormNeedsNoAuthorization() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .post, "/device-token", #"{"deviceToken":"\#(TestAPI.token)","platform":"IOS","userId":42}"#, key: nil)
    #expect(reply.status == 200)
    #expect(reply["message"]?.string == "토큰 등록 완료")
    #expect(try await api.storage.devices(of: UserID(rawValue: "42"), in: AppMode(app: 1, mode: .test)).count == 1)
  }

  @Test func emptyAttributesAndUnknownMembersAreTaken() async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .post, "/api/push/register",
      #"{"userId":"u","deviceToken":"\#(TestAPI.token)","platform":"ios","appVersion":"","osVersion":null,"tpyo":1}"#,
      key: TestAPI.publishable)
    #expect(reply.status == 200)
    #expect(reply["warnings"]?.elements.first?.string == "'tpyo' is unknown here and was ignored.")
  }

  @Test(
    "a wrong registration names the member and stores nothing",
    arguments: [
      (#"{"deviceToken":"T","platform":"ios"}"#, "parameter_missing", "userId"),
      (#"{"userId":"u","platform":"ios"}"#, "parameter_missing", "deviceToken"),
      (#"{"userId":"u","deviceToken":"T"}"#, "parameter_missing", "platform"),
      (#"{"userId":"u","deviceToken":"T","platform":"palm"}"#, "parameter_invalid", "platform"),
      (#"{"userId":"u","deviceToken":"T","platform":"android"}"#, "provider_unsupported", "platform"),
      (#"{"userId":"u","deviceToken":"T","platform":"ios","environment":"dev"}"#, "parameter_invalid", "environment"),
      (#"{"userId":"","deviceToken":"T","platform":"ios"}"#, "parameter_missing", "userId"),
      (#"{"userId":"u\u0000","deviceToken":"T","platform":"ios"}"#, "parameter_invalid", "userId"),
      (#"["userId"]"#, "parameter_invalid", "body"),
      (#"{"userId":"u","#, "json_malformed", nil),
    ] as [(String, String, String?)])
  func wrong(_ body: String, _ code: String, _ parameter: String?) async throws {
    let api = try await TestAPI()
    let pieces = body.split(separator: "\"T\"", omittingEmptySubsequences: false)
    let reply = try await api.call(
      .post, "/api/push/register", pieces.joined(separator: "\"\(TestAPI.token)\""), key: nil)
    #expect(reply.status == 400)
    #expect(reply.success == false)
    #expect(reply["error"]?.string?.isEmpty == false)
    #expect(reply.code == code)
    #expect(reply["param"]?.string == parameter)
    #expect(try await api.storage.counts(in: AppMode(app: 1, mode: .test)).activeDevices == 0)
    #expect(api.adopted.withLock { $0.isEmpty })
  }

  @Test("OC-38 tokens of any length are stored whole; malformed ones are refused", arguments: [64, 108, 160, 200])
  func lengths(_ digits: Int) async throws {
    let api = try await TestAPI()
    let token = String(repeating: "ab", count: digits / 2)
    #expect(try await api.register("u", token).status == 200)
    try await api.talentRequest("u")
    #expect(api.sent.withLock { $0.map(\.token.hex) } == [token])
  }

  @Test(
    "OC-38, OC-41, OC-42 what is no token is refused by name and nothing is stored",
    arguments: [
      String(repeating: "a", count: 63), "", String(repeating: "a", count: 63) + "g",
      String(repeating: "a", count: 4096), "{length=32,bytes=0x0011223344556677...8899aabbccddeeff}", "(null)",
      "undefined", "deadbeefzz", String(repeating: " ", count: 64), "deadbeefdeadbe",
    ])
  func malformed(_ token: String) async throws {
    let api = try await TestAPI()
    let reply = try await api.register("u", token)
    #expect(reply.status == 400)
    #expect(reply.code == "token_malformed")
    #expect(reply["param"]?.string == "deviceToken")
    #expect(reply["hint"]?.string?.isEmpty == false)
    if token.utf8.count > 20 { #expect(!reply.text.contains(token)) }
    #expect(try await api.storage.counts(in: AppMode(app: 1, mode: .test)).activeDevices == 0)
    #expect(api.adopted.withLock { $0.isEmpty })
    #expect(try await api.talentRequest("u").success == false)
    #expect(api.sent.withLock { $0.isEmpty }, "no request with an empty or invented token")
  }

  @Test("OC-39 four spellings of one token are one device and one push")
  func spellings() async throws {
    let api = try await TestAPI()
    let groups = stride(from: 0, to: 64, by: 8).map { start in
      String(TestAPI.token.dropFirst(start).prefix(8))
    }
    for token in [
      TestAPI.token.uppercased(), TestAPI.token, "<\(groups.joined(separator: " "))>", TestAPI.token + #"\n"#,
    ] {
      #expect(try await api.register("u", token).status == 200)
    }
    let reply = try await api.talentRequest("u")
    #expect(reply["sent"]?.int == 1)
    #expect(reply["devices"]?.int == 1)
  }

  @Test("OC-40 twenty equal registrations at once are one device")
  func parallel() async throws {
    let api = try await TestAPI()
    let ids = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { try await api.register("u")["deviceId"]?.string } }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try await api.talentRequest("u")["sent"]?.int == 1)
  }

  @Test("OC-46 the phone that changes hands shows nothing of its last user")
  func reassigned() async throws {
    let api = try await TestAPI()
    try await api.register("a")
    #expect(try await api.register("b")["status"]?.string == "reassigned")
    let toA = try await api.talentRequest("a", request: "r_a")
    #expect(toA.success == false)
    #expect(toA["devices"]?.int == 0)
    #expect(toA["reason"]?.string == "no_devices")
    #expect(toA["message"]?.string == "등록된 디바이스 없음")
    let toB = try await api.talentRequest("b", request: "r_b")
    #expect(toB["sent"]?.int == 1)
  }

  @Test("DELETE with a body, with a query, and POST: all forget the token")
  func unregister() async throws {
    let api = try await TestAPI()
    let body = #"{"userId":"u","deviceToken":"\#(TestAPI.token)"}"#
    let calls: [(HTTPMethod, String, String?)] = [
      (.delete, "/api/push/unregister", body),
      (.delete, "/api/push/unregister?userId=u&deviceToken=\(TestAPI.token)", nil),
      (.post, "/api/push/unregister", body),
    ]
    for (method, target, body) in calls {
      try await api.register("u")
      let reply = try await api.call(method, target, body, key: nil)
      #expect(reply.status == 200)
      #expect(reply.success == true)
      #expect(reply["message"]?.string == "토큰 삭제 완료")
      #expect(reply["status"]?.string == "removed")
      #expect(try await api.call(method, target, body, key: nil)["status"]?.string == "absent")
    }
    #expect(try await api.talentRequest("u").success == false)
  }

  @Test func anotherUsersTokenStays() async throws {
    let api = try await TestAPI()
    try await api.register("b")
    let reply = try await api.call(
      .delete, "/api/push/unregister", #"{"userId":"a","deviceToken":"\#(TestAPI.token)"}"#, key: nil)
    #expect(reply.status == 200)
    #expect(reply["status"]?.string == "not_owner")
    #expect(try await api.talentRequest("b")["sent"]?.int == 1)
  }
}
