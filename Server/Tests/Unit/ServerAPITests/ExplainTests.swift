import HTTPServer
import Observability
import PabalModel
import PabalPrimitives
import ServerAPI
import Storage
import Testing

@Suite struct ExplainTests {
  private func explain(_ api: TestAPI, _ user: String = "u") async throws -> TestAPI.Reply {
    try await api.call(.get, "/v1/explain?userId=\(user)&type=talent_request")
  }

  @discardableResult
  private func report(_ api: TestAPI, _ kind: String) async throws -> TestAPI.Reply {
    let delivery = try #require(api.sent.withLock { $0.last })
    return try await api.call(
      .post, "/v1/events",
      #"""
      {"events":[{"kind":"\#(kind)","deliveryId":"\#(delivery.id.rawValue)",\#
      "messageId":"\#(delivery.messageID.rawValue)","at":"2027-01-15T08:00:00.000Z",\#
      "eventId":"e_\#(kind)"}]}
      """#,
      key: TestAPI.publishable)
  }

  @Test func neverAsked() async throws {
    let api = try await TestAPI()
    let reply = try await explain(api)
    #expect(reply.status == 200)
    #expect(reply["answer"]?.string == "never_asked")
    #expect(reply["sentence"]?["ko"]?.string?.isEmpty == false)
    #expect(try await api.call(.get, "/v1/explain?userId=u").code == "parameter_missing")
    #expect(try await api.call(.get, "/v1/explain?type=x").code == "parameter_missing")
    #expect(try await api.call(.get, "/v1/explain?userId=u&type=talentrequest").code == "type_not_found")
    #expect(try await api.call(.get, "/v1/explain?userId=u&type=content")["answer"]?.string == "never_asked")
  }

  @Test func weChoseNotTo() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.call(.put, "/notification-preferences?userId=u", #"{"talentRequest":false}"#, key: nil)
    try await api.talentRequest("u")
    let reply = try await explain(api)
    #expect(reply["answer"]?.string == "we_chose_not_to")
    #expect(reply["reason"]?.string == "preference_off")
    let results = reply["steps"]?.elements.map { "\($0["step"]?.string ?? "") \($0["result"]?.string ?? "")" } ?? []
    #expect(results.contains("consent stop"))
    #expect(results.contains("attempt not_reached"))
    #expect(reply["suggestions"]?.elements.isEmpty == false)
  }

  @Test("the phone that was uninstalled")
  func providerRefused() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    api.clock.advance(by: .seconds(60))
    api.answers.withLock { $0[TestAPI.token] = .refused(410, "Unregistered") }
    try await api.talentRequest("u")
    let reply = try await explain(api)
    #expect(reply["answer"]?.string == "provider_refused")
    #expect(reply["reason"]?.string == "apns.Unregistered")
    #expect(reply["basis"]?.string == "recorded")
    #expect(try await api.talentRequest("u", request: "r_2")["reason"]?.string == "no_devices")
  }

  @Test("accepted, received, opened: the words change as the phone tells")
  func reports() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.talentRequest("u")
    let silent = try await explain(api)
    #expect(silent["answer"]?.string == "provider_accepted")
    #expect(silent["reason"]?.string == "not_confirmed")
    #expect(try await report(api, "received")["accepted"]?.int == 1)
    #expect(try await report(api, "received")["duplicates"]?.int == 1)
    #expect(try await explain(api)["answer"]?.string == "received")
    try await report(api, "opened")
    let opened = try await explain(api)
    #expect(opened["answer"]?.string == "opened")
    #expect(opened["reason"] == nil)
    let device = try #require(opened["devices"]?.elements.first?["deviceId"]?.string)
    let byDevice = try await api.call(.get, "/v1/explain?deviceId=\(device)&type=talent_request")
    #expect(byDevice["answer"]?.string == "opened")
  }

  @Test("OC-76 the upload of one tap comes again after a time-out: one opened event, one in the trace")
  func repeatedUpload() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.talentRequest("u")
    let first = try await report(api, "opened")
    #expect([first["accepted"]?.int, first["duplicates"]?.int] == [1, 0])
    let again = try await report(api, "opened")
    #expect(again.status == 202)
    #expect([again["accepted"]?.int, again["duplicates"]?.int] == [0, 1])
    let delivery = try #require(api.sent.withLock { $0.last })
    let trace = try await api.call(.get, "/v1/deliveries/\(delivery.id.rawValue)/trace")
    #expect(trace["steps"]?.elements.filter { $0["result"]?.string == "opened" }.count == 1)
    #expect(api.metrics.value(of: "pabal_sdk_events_total", ["opened"]) == 1)
  }

  @Test("time to open: once for each delivery, by class, from the acceptance")
  func openDelay() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    try await api.talentRequest("u")
    let delivery = try #require(api.sent.withLock { $0.last })
    api.clock.advance(by: .seconds(100))
    let openedAt = WallTime(milliseconds: 1_800_000_042_000).rfc3339
    for event in ["e1", "e1", "e2"] {
      try await api.call(
        .post, "/v1/events",
        #"""
        {"events":[{"kind":"opened","deliveryId":"\#(delivery.id.rawValue)","eventId":"\#(event)",\#
        "messageId":"\#(delivery.messageID.rawValue)","at":"\#(openedAt)"}]}
        """#, key: TestAPI.publishable)
    }
    let text = api.metrics.text
    #expect(text.contains("pabal_open_delay_seconds_sum{class=\"urgent\"} 42\n"), "\(text)")
    #expect(text.contains("pabal_open_delay_seconds_count{class=\"urgent\"} 1\n"))
    #expect(text.contains("pabal_sdk_events_total{kind=\"opened\"} 2\n"))
  }

  @Test func unknownAndWaiting() async throws {
    let api = try await TestAPI()
    try await api.register("u")
    api.answers.withLock { $0[TestAPI.token] = .lost }
    try await api.talentRequest("u", request: "r_1")
    #expect(try await explain(api)["answer"]?.string == "we_do_not_know")
    #expect(try await explain(api)["reason"]?.string == "reply_lost")
    api.answers.withLock { $0[TestAPI.token] = .slow }
    try await api.talentRequest("u", request: "r_2")
    #expect(try await explain(api)["answer"]?.string == "still_waiting")
  }

  @Test("several devices: the best for the user, each one listed")
  func bestOfSeveral() async throws {
    let api = try await TestAPI()
    try await api.register("u", TestAPI.token(1))
    try await api.register("u", TestAPI.token(2))
    api.answers.withLock { $0[TestAPI.token(1)] = .refused(400, "BadDeviceToken") }
    try await api.talentRequest("u")
    let reply = try await explain(api)
    #expect(reply["answer"]?.string == "provider_accepted")
    let answers = reply["devices"]?.elements.compactMap { $0["answer"]?.string } ?? []
    #expect(answers == ["provider_accepted", "provider_refused"])
  }

  @Test func everyReasonHasWordsInBothLanguages() {
    for reason in ReasonSentence.known + [.apns("SomethingNew")] {
      let words = ReasonSentence.of(reason)
      for sentence in [words.what, words.advice] {
        #expect(!sentence.english.isEmpty && !sentence.korean.isEmpty, "\(reason.rawValue)")
        #expect(sentence.english != sentence.korean, "\(reason.rawValue)")
      }
    }
  }
}
