import HTTPServer
import PabalModel
import PabalPrimitives
import Storage
import Testing

@Suite struct MessageRouteTests {
  @Test func contentWithAnImage() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(
      .post, "/v1/messages?wait=5",
      #"""
      {"to":{"userIds":["u"]},"content":{"title":{"ko":"사진","en":"Picture"},\#
      "body":"보세요 {x}","image":"https://cdn.example.com/a.png","link":"app://x"}}
      """#
    )
    #expect(reply.status == 202)
    #expect(reply["object"]?.string == "message")
    #expect(reply["state"]?.string == "completed")
    #expect(reply["type"]?.string == "content")
    #expect(reply["counts"]?["deliveries"]?["accepted"]?.int == 1)
    #expect(reply["duplicate"]?.bool == false)
    #expect(api.waits.withLock { $0 } == [.seconds(5)])
    let payload = api.sent.withLock { String(decoding: $0[0].push.payload, as: UTF8.self) }
    #expect(
      payload.hasPrefix(
        #"""
        {"aps":{"alert":{"title":"사진","body":"보세요 {x}"},"sound":"default",\#
        "mutable-content":1},"link":"app://x","image":"https://cdn.example.com/a.png",\#
        "pabal":
        """#
      ))
  }

  @Test("OC-28 escapes of emoji, of backslashes, and a lone surrogate")
  func surrogates() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    func body(_ text: String) -> String { #"{"to":{"userIds":["u"]},"content":{"body":"\#(text)"}}"# }
    #expect(try await api.call(.post, "/v1/messages", body(#"hi \ud83d\ude09"#)).status == 202)
    #expect(try await api.call(.post, "/v1/messages", body(#"hi \\ud83d\\ude09"#)).status == 202)
    let lone = try await api.call(.post, "/v1/messages", body(#"hi \ud83d"#))
    #expect(lone.status == 400)
    #expect(lone.code == "json_malformed")
    let bodies = try api.sent.withLock { sent in
      try sent.map { try JSONSlice(parsing: $0.push.payload)["aps"]?["alert"]?["body"]?.string }
    }
    #expect(bodies == ["hi 😉", #"hi \ud83d\ude09"#])
  }

  @Test(
    "what is wrong is named where it is, and nothing is stored",
    arguments: [
      (#"{"to":{"userIds":["u"]},"contents":{"body":"b"}}"#, "parameter_unknown", "contents"),
      (#"{"to":{"userId":"u"},"content":{"body":"b"}}"#, "parameter_unknown", "to.userId"),
      (#"{"to":{"userIds":["u"]},"content":{"title":"","body":""}}"#, "parameter_missing", "type"),
      (#"{"to":{"userIds":["u"]},"content":{"body":{"ko":""}}}"#, "parameter_invalid", "content.body.ko"),
      (#"{"to":{"userIds":["u"]},"content":{"title":"LONG"}}"#, "payload_too_large", "content"),
      (#"[]"#, "parameter_invalid", "body"),
    ])
  func misspeltAndEmpty(body: String, code: String, parameter: String) async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let long = body.replacing("LONG", with: String(repeating: "x", count: 5000))
    let reply = try await api.call(.post, "/v1/messages", long)
    #expect(reply.status == 400)
    #expect(reply.code == code)
    #expect(reply.json["error"]?["param"]?.string == parameter)
    #expect(api.sent.withLock { $0.isEmpty })
    #expect(try await api.storage.counts(in: AppMode(app: 1, mode: .test)).messages == 0)
  }

  @Test("OC-33 a ttl is a length, never a date")
  func timeToLive() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    func send(_ ttl: String) async throws -> TestAPI.Reply {
      try await api.call(
        .post, "/v1/messages", #"{"to":{"userIds":["u"]},"content":{"body":"b"},"options":{"ttl":\#(ttl)}}"#)
    }
    for ttl in ["86400", #""PT24H""#, #""P1D""#] { #expect(try await send(ttl).status == 202) }
    let expirations = api.sent.withLock { $0.map { $0.lifetime?.end?.seconds } }
    #expect(expirations == [1_800_086_400, 1_800_086_400, 1_800_086_400])
    for ttl in ["1800086400000", "1800086400", "-1", "1.5", #""86400""#, #""PT""#, #""P1H""#, #""P""#] {
      let reply = try await send(ttl)
      #expect(reply.status == 400, "\(ttl)")
      #expect(reply.json["error"]?["param"]?.string == "options.ttl", "\(ttl)")
    }
  }

  @Test("OC-34 a ttl of 0 is now or never; absent and null are the type's own") func nowOrNever() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    for options in [#""ttl":0"#, #""ttl":"PT0S""#, "", #""ttl":null"#] {
      let reply = try await api.call(
        .post, "/v1/messages", #"{"to":{"userIds":["u"]},"content":{"body":"b"},"options":{\#(options)}}"#)
      #expect(reply.status == 202, "\(options)")
      #expect((reply["expiresAt"] == nil) == options.contains("0"), "\(options)")
    }
    let aDay = PushLifetime.until(WallTime(seconds: 1_800_086_400))
    #expect(api.sent.withLock { $0.map(\.lifetime) } == [.attemptOnce, .attemptOnce, aDay, aDay])
  }

  @Test("OC-35 badge: absent, null, 0 and 5 are taken, all else refused")
  func badge() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    func send(_ options: String) async throws -> TestAPI.Reply {
      try await api.call(
        .post, "/v1/messages", #"{"to":{"userIds":["u"]},"content":{"body":"b"},"options":{\#(options)}}"#)
    }
    for options in ["", #""badge":null"#, #""badge":0"#, #""badge":5"#] {
      #expect(try await send(options).status == 202)
    }
    let badges = try api.sent.withLock { sent in
      try sent.map { try JSONSlice(parsing: $0.push.payload)["aps"]?["badge"]?.int }
    }
    #expect(badges == [nil, nil, 0, 5])
    for options in [#""badge":"5""#, #""badge":-1"#, #""badge":1.5"#] {
      let reply = try await send(options)
      #expect(reply.status == 400)
      #expect(reply.json["error"]?["param"]?.string == "options.badge")
    }
  }

  @Test func optionsReachTheProvider() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.call(
      .post, "/v1/messages",
      #"""
      {"to":{"userIds":["u"]},"type":"hello","data":{"name":"지우"},"options":{"collapseKey":"c",\#
      "threadId":"t","interruptionLevel":"timeSensitive","priority":"normal",\#
      "sound":null,"actionCategory":"A"}}
      """#
    )
    let delivery = try #require(api.sent.withLock { $0.first })
    #expect(delivery.push.collapseID == "c")
    #expect(delivery.push.priority == 5)
    let aps = try #require(try JSONSlice(parsing: delivery.push.payload)["aps"])
    #expect(aps["thread-id"]?.string == "t")
    #expect(aps["interruption-level"]?.string == "time-sensitive")
    #expect(aps["sound"] == nil)
    #expect(aps["category"]?.string == "A")
    #expect(aps["alert"]?["body"]?.string == "지우님, 첫 푸시입니다.")
  }

  @Test(
    "what does not exist or is wrong is named, and nothing is sent",
    arguments: [
      (#"{}"#, "parameter_missing", "to"), (#"{"to":{}}"#, "parameter_missing", "to.userIds"),
      (#"{"to":{"userIds":[]}}"#, "parameter_invalid", "to.userIds"),
      (#"{"to":{"userIds":["u"],"segment":"x"}}"#, "parameter_unknown", "to.segment"),
      (#"{"to":{"userIds":["u"]}}"#, "parameter_missing", "type"),
      (#"{"to":{"userIds":["u"]},"type":"nope"}"#, "type_not_found", "type"),
      (#"{"to":{"userIds":["u"]},"type":"review","data":{"rating":3}}"#, "parameter_missing", "data.reviewerName"),
      (
        #"{"to":{"userIds":["u"]},"type":"hello","data":{"nmae":"x"}}"#, "parameter_unknown", "data.nmae"
      ),
      (
        #"{"to":{"userIds":["u"]},"content":{"body":"b"},"dedupeKey":"k"}"#, "parameter_unknown", "dedupeKey"
      ),
      (
        #"{"to":{"userIds":["u"]},"content":{"body":"b","image":"file:///x"}}"#, "parameter_invalid", "content.image"
      ),
      (
        #"{"to":{"userIds":["u"]},"content":{"body":"b"},"options":{"interruptionLevel":"critical"}}"#,
        "parameter_invalid", "options.interruptionLevel"
      ),
      (#"{"to":{"userIds":["u"]},"content":{"body":5}}"#, "parameter_invalid", "content.body"),
    ])
  func wrong(_ body: String, _ code: String, _ parameter: String) async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(.post, "/v1/messages", body)
    #expect(reply.status == 400)
    #expect(reply.code == code)
    #expect(reply.json["error"]?["param"]?.string == parameter)
    #expect(api.sent.withLock { $0.isEmpty })
  }

  @Test func severalUsersAndOneDuplicate() async throws {
    let api = try await TestAPI()
    try await api.register("a", TestAPI.token(1))
    try await api.register("b", TestAPI.token(2))
    let first = try await api.talentRequest("a", request: "r")
    let reply = try await api.call(
      .post, "/v1/messages",
      #"""
      {"to":{"userIds":["a","b","a"]},"type":"talent_request","data":{"requesterName":"x",\#
      "talentTitle":"y","requestId":"r"}}
      """#
    )
    #expect(reply["duplicate"]?.bool == false)
    #expect(reply["audience"]?["users"]?.int == 1)
    #expect(reply["duplicates"]?.elements.first?["userId"]?.string == "a")
    #expect(reply["duplicates"]?.elements.first?["messageId"]?.string == first["messageId"]?.string)
    #expect(api.sent.withLock { $0.map(\.token.hex) } == [TestAPI.token(1), TestAPI.token(2)])
  }

  @Test func messagesDeliveriesAndTheTrace() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let id = try #require(try await api.talentRequest("u")["messageId"]?.string)
    #expect(try await api.call(.get, "/v1/messages/\(id)")["source"]?.string == "guide")
    let list = try await api.call(.get, "/v1/messages?userId=u")
    #expect(list["data"]?.elements.first?["id"]?.string == id)
    let deliveries = try await api.call(.get, "/v1/messages/\(id)/deliveries")
    let delivery = try #require(deliveries["data"]?.elements.first)
    #expect(delivery["state"]?.string == "accepted")
    let other = try await api.call(.get, "/v1/deliveries?userId=u")
    #expect(other["data"]?.elements.first?["id"]?.string == delivery["id"]?.string)
    let trace = try await api.call(.get, "/v1/deliveries/\(delivery["id"]?.string ?? "")/trace")
    let steps = trace["steps"]?.elements.map { "\($0["step"]?.string ?? "") \($0["result"]?.string ?? "")" } ?? []
    #expect(
      steps.prefix(12) == [
        "authorise ok", "audience ok", "holdout not_configured", "devices ok", "consent ok", "dedupe ok",
        "quietHours not_configured", "frequency not_configured", "render ok", "pace not_configured",
        "attempt accepted", "outcome accepted",
      ], "\(steps)")
    #expect(try await api.call(.get, "/v1/messages/msg_none").code == "message_not_found")
    #expect(try await api.call(.get, "/v1/deliveries/dlv_none/trace").code == "delivery_not_found")
    #expect(try await api.call(.get, "/v1/deliveries").code == "parameter_missing")
    #expect(try await api.call(.get, "/v1/messages?userId=u&limit=0").code == "parameter_invalid")
    #expect(try await api.call(.get, "/v1/messages?userId=u&state=x").code == "parameter_unknown")
  }

  @Test(arguments: ["11", "-1", "x", "1.5"])
  func waitIsBounded(_ wait: String) async throws {
    let api = try await TestAPI()
    let reply = try await api.call(
      .post, "/v1/messages?wait=\(wait)", #"{"to":{"userIds":["u"]},"content":{"body":"b"}}"#)
    #expect(reply.status == 400)
    #expect(reply.json["error"]?["param"]?.string == "wait")
  }
}
