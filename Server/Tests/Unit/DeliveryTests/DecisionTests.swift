import Delivery
import PabalModel
import PabalPrimitives
import Testing

@Suite struct DecisionTests {
  let now = WallTime(milliseconds: 1_800_000_000_000)

  func request(_ type: String, _ data: [String: TemplateValue]) -> DecisionRequest {
    DecisionRequest(
      message: MessageID(rawValue: "msg_1"), content: PushContent(type: ShippedTypes.all[type], data: data),
      requestID: "req_1", source: "guide", now: now)
  }

  var talent: DecisionRequest {
    request(
      "talent_request", ["requesterName": .text("a"), "talentTitle": .text("b"), "requestId": .text("r")])
  }

  func device(_ id: String, isActive: Bool = true, hasToken: Bool = true, platform: Platform = .ios)
    -> Candidate.Device
  {
    Candidate.Device(
      id: DeviceID(rawValue: id), delivery: DeliveryID(rawValue: "dlv_\(id)"), platform: platform,
      isActive: isActive, hasToken: hasToken, locale: "ko", hasServiceExtension: false)
  }

  func candidate(
    _ devices: [Candidate.Device], isKnown: Bool = true, preferences: [String: Candidate.Preference] = [:]
  ) -> Candidate {
    Candidate(user: UserID(rawValue: "u"), isKnown: isKnown, preferences: preferences, devices: devices)
  }

  func words(_ decision: UserDecision) -> [String] {
    (decision.steps + (decision.devices.first?.steps ?? [])).map { "\($0.step.rawValue) \($0.result.rawValue)" }
  }

  @Test func everyStepUpToPaceIsRecordedAndUnbuiltOnesAreNotOk() {
    let decision = DecisionMaker().decide(talent, for: candidate([device("a"), device("b")]))
    #expect(decision.reason == nil)
    #expect(decision.devices.count == 2)
    #expect(
      words(decision) == [
        "authorise ok", "audience ok", "holdout not_configured", "devices ok", "consent ok", "dedupe ok",
        "quietHours not_configured", "frequency not_configured", "render ok", "pace not_configured",
      ])
    #expect(
      Set(
        decision.devices.compactMap { plan in
          if case .send(let push) = plan.plan { String(decoding: push.payload, as: UTF8.self) } else { nil }
        }
      ).count == 2)
  }

  @Test func anUnknownUserStopsAtTheAudience() {
    let decision = DecisionMaker().decide(talent, for: candidate([], isKnown: false))
    #expect(decision.reason == .userUnknown)
    #expect(words(decision).last == "audience stop")
  }

  @Test func noActiveDeviceStopsAtDevices() {
    let decision = DecisionMaker().decide(
      talent, for: candidate([device("a", isActive: false), device("b", hasToken: false)]))
    #expect(decision.reason == .noDevices)
    #expect(decision.steps.last?.detail == ["active": 0, "inactive": 2])
  }

  @Test func aPreferenceThatIsOffStopsAtConsent() {
    let off = ["talentRequest": Candidate.Preference(isOn: false, setAt: now)]
    let decision = DecisionMaker().decide(talent, for: candidate([device("a")], preferences: off))
    #expect(decision.reason == .preferenceOff)
    #expect(decision.devices.isEmpty)
    #expect(words(decision).last == "consent stop")
    let on = ["talentRequest": Candidate.Preference(isOn: true, setAt: now)]
    #expect(DecisionMaker().decide(talent, for: candidate([device("a")], preferences: on)).reason == nil)
  }

  @Test func marketingIsOffUntilAsked() throws {
    let type = try NotificationType(
      parsing: #"""
        {"name":"sale","category":"marketing","frequencyClass":"marketing","defaultLocale":"ko",
         "content":{"ko":{"title":"a","body":"b"}}}
        """#)
    let request = DecisionRequest(
      message: MessageID(rawValue: "m"), content: PushContent(type: type), requestID: "r", source: "api", now: now)
    #expect(DecisionMaker().decide(request, for: candidate([device("a")])).reason == .preferenceOff)
  }

  @Test func nobodyGetsAPushAboutHisOwnMessage() {
    let chat = request(
      "chat_message",
      ["senderName": .text("a"), "message": .text("b"), "chatRoomId": .text("c"), "senderId": .text("u")])
    let decision = DecisionMaker().decide(chat, for: candidate([device("a")]))
    #expect(decision.reason == .excluded)
    #expect(words(decision).last == "holdout stop")
  }

  @Test func androidIsLeftOutUntilItsProviderExists() {
    let decision = DecisionMaker().decide(talent, for: candidate([device("a", platform: .android), device("b")]))
    #expect(decision.reason == nil)
    #expect(decision.devices.map(\.plan).contains(.leaveOut(.providerUnsupported)))
  }

  @Test func aMissingVariableIsADevicesReason() {
    let decision = DecisionMaker().decide(
      request("talent_request", ["requestId": .text("r")]), for: candidate([device("a")]))
    #expect(decision.devices.map(\.plan) == [.leaveOut(.variableMissing)])
  }
}
