import HTTPServer
import PabalModel
import PabalPrimitives
import Storage
import Testing

@Suite struct GuideSendTests {
  @Test func talentRequestIsSentAndCounted() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.talentRequest("u")
    #expect(reply.status == 200)
    #expect(reply.success == true)
    #expect(reply["sent"]?.int == 1)
    #expect(reply["failed"]?.int == 0)
    #expect(reply["status"]?.string == "completed")
    #expect(reply["duplicate"]?.bool == false)
    #expect(api.waits.withLock { $0 } == [.seconds(5)])
    let delivery = try #require(api.sent.withLock { $0.first })
    #expect(delivery.topic?.rawValue == "com.example.demo")
    let payload = String(decoding: delivery.push.payload, as: UTF8.self)
    #expect(
      payload
        == #"""
        {"aps":{"alert":{"title":"새로운 재능 요청","body":"민준님이 \"기타\" 재능을 요청했습니다."},\#
        "badge":1,"sound":"default","category":"TALENT_REQUEST"},"type":"talent_request",\#
        "requestId":"r_1","talentTitle":"기타","pabal":{"m":"\#(delivery.messageID.rawValue)",\#
        "d":"\#(delivery.id.rawValue)"}}
        """#
    )
  }

  @Test func messageAndReviewAreSent() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let message = try await api.call(
      .post, "/api/push/message",
      #"{"receiverId":"u","senderName":"서연","message":"안녕","chatRoomId":"room_1","senderId":"v"}"#)
    #expect(message["sent"]?.int == 1)
    let review = try await api.call(
      .post, "/api/push/review", #"{"receiverId":"u","reviewerName":"지우","rating":5}"#)
    #expect(review["sent"]?.int == 1)
    let payloads = api.sent.withLock { $0.map { String(decoding: $0.push.payload, as: UTF8.self) } }
    #expect(payloads[0].contains(#""type":"message","chatRoomId":"room_1","senderId":"v""#))
    #expect(payloads[1].contains("지우님이 ⭐⭐⭐⭐⭐ 리뷰를 남겼습니다."))
    #expect(api.sent.withLock { $0.map(\.push.priority) } == [10, 5])
  }

  @Test func theGuidesOwnMessageCallMayLackTheSender() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(
      .post, "/api/push/message", #"{"receiverId":"u","senderName":"서연","message":"안녕","chatRoomId":7}"#)
    #expect(reply["sent"]?.int == 1)
    let payload = api.sent.withLock { String(decoding: $0[0].push.payload, as: UTF8.self) }
    #expect(payload.contains(#""chatRoomId":"7","pabal""#))
  }

  @Test func noDeviceIsTheGuidesAnswer() async throws {
    let api = try await TestAPI()
    let reply = try await api.talentRequest("nobody")
    #expect(reply.status == 200)
    #expect(reply.success == false)
    #expect(reply["message"]?.string == "등록된 디바이스 없음")
    #expect(reply["status"]?.string == "suppressed")
    #expect(reply["reason"]?.string == "no_devices")
    #expect(reply["messageId"]?.string?.hasPrefix("msg_") == true)
  }

  @Test("a member that nobody knows is named, and the push goes out: the guide's server took anything")
  func unknownMember() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(
      .post, "/api/push/talent-request",
      #"{"receiverId":"u","requesterName":"민준","talentTitle":"기타","requestId":"r","talentId":7}"#)
    #expect(reply["sent"]?.int == 1)
    #expect(reply["warnings"]?.elements.map(\.string) == ["'talentId' is unknown here and was ignored."])
    #expect(try await api.talentRequest("u", request: "r_2")["warnings"] == nil)
  }

  @Test("ruling 17: every device is in exactly one of the five sums")
  func sums() async throws {
    let api = try await TestAPI()
    for number in 1...5 { try await api.register("u", TestAPI.token(number)) }
    api.answers.withLock { answers in
      answers[TestAPI.token(2)] = .refused(410, "Unregistered")
      answers[TestAPI.token(3)] = .lost
      answers[TestAPI.token(4)] = .slow
    }
    let reply = try await api.talentRequest("u")
    #expect(reply.success == true)
    let sums = ["sent", "failed", "pending", "unknown", "suppressed"].map { reply[$0]?.int }
    #expect(sums == [2, 1, 1, 1, 0])
    #expect(reply["devices"]?.int == 5)
    #expect(reply["status"]?.string == "sending")
  }

  @Test("preferences off: no request leaves, the answer says why; on again: sent")
  func preferenceOff() async throws {
    let api = try await TestAPI()
    try await api.register("u", TestAPI.token(1))
    try await api.register("u", TestAPI.token(2))
    try await api.call(.put, "/notification-preferences?userId=u", #"{"talentRequest":false}"#, key: nil)
    let reply = try await api.talentRequest("u", request: "r_1")
    #expect(reply.status == 200)
    #expect(reply.success == true)
    #expect(reply["sent"]?.int == 0)
    #expect(reply["suppressed"]?.int == 2)
    #expect(reply["status"]?.string == "suppressed")
    #expect(reply["reason"]?.string == "preference_off")
    #expect(api.sent.withLock { $0.isEmpty })
    try await api.call(.put, "/notification-preferences?userId=u", #"{"talentRequest":true}"#, key: nil)
    #expect(try await api.talentRequest("u", request: "r_2")["sent"]?.int == 2)
  }

  @Test func nobodyIsToldOfHisOwnMessage() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(
      .post, "/api/push/message",
      #"{"receiverId":"u","senderName":"a","message":"b","chatRoomId":"c","senderId":"u"}"#)
    #expect(reply.status == 200)
    #expect(reply["status"]?.string == "suppressed")
    #expect(reply["reason"]?.string == "excluded")
    #expect(api.sent.withLock { $0.isEmpty })
  }

  @Test("dedupe by requestId: the second call tells of the first message")
  func duplicate() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let first = try await api.talentRequest("u")
    let second = try await api.talentRequest("u")
    #expect(second["duplicate"]?.bool == true)
    #expect(second["messageId"]?.string == first["messageId"]?.string)
    #expect(second["sent"]?.int == 1)
    #expect(api.sent.withLock { $0.count } == 1)
    #expect(try await api.talentRequest("u", request: "r_2")["duplicate"]?.bool == false)
  }

  @Test func fiftyEqualCallsSendOnce() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let ids = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<50 { group.addTask { try await api.talentRequest("u")["messageId"]?.string } }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(api.sent.withLock { $0.count } == 1)
  }

  @Test("ruling 5: a call that reached nobody gives its claim back")
  func claimIsReleased() async throws {
    let api = try await TestAPI()
    #expect(try await api.talentRequest("u").success == false)
    try await api.register("u")
    let reply = try await api.talentRequest("u")
    #expect(reply["duplicate"]?.bool == false)
    #expect(reply["sent"]?.int == 1)
  }

  @Test(
    "a wrong send call names the member and sends nothing",
    arguments: [
      ("/api/push/talent-request", #"{"requesterName":"a","talentTitle":"b","requestId":"c"}"#, "receiverId"),
      ("/api/push/talent-request", #"{"receiverId":"u","talentTitle":"b","requestId":"c"}"#, "requesterName"),
      ("/api/push/talent-request", #"{"receiverId":"u","requesterName":"a","requestId":"c"}"#, "talentTitle"),
      ("/api/push/talent-request", #"{"receiverId":"u","requesterName":"a","talentTitle":"b"}"#, "requestId"),
      ("/api/push/message", #"{"receiverId":"u","senderName":"a","chatRoomId":"c"}"#, "message"),
      ("/api/push/review", #"{"receiverId":"u","reviewerName":"a","rating":0}"#, "rating"),
      ("/api/push/review", #"{"receiverId":"u","reviewerName":"a","rating":6}"#, "rating"),
      ("/api/push/review", #"{"receiverId":"u","reviewerName":"a","rating":4.5}"#, "rating"),
      ("/api/push/review", #"{"receiverId":"u","reviewerName":{},"rating":4}"#, "reviewerName"),
    ])
  func wrong(_ path: String, _ body: String, _ parameter: String) async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(.post, path, body)
    #expect(reply.status == 400)
    #expect(reply.success == false)
    #expect(reply["param"]?.string == parameter)
    #expect(reply.code == "parameter_missing" || reply.code == "parameter_invalid")
    #expect(api.sent.withLock { $0.isEmpty })
    #expect(try await api.storage.counts(in: AppMode(app: 1, mode: .test)).messages == 0)
  }

  @Test func anInternalFaultIsTheGuidesError() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    let reply = try await api.call(
      .post, "/api/push/talent-request",
      #"{"receiverId":"u","requesterName":"a","talentTitle":"\#(String(repeating: "x", count: 5000))","requestId":"r"}"#
    )
    #expect(reply.status == 200)
    #expect(reply["reason"]?.string == "payload_too_large")
    #expect(reply["suppressed"]?.int == 1)
    #expect(api.sent.withLock { $0.isEmpty })
  }
}
