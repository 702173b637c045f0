import Delivery
import PabalModel
import PabalPrimitives
import Testing

@Suite struct RenderingTests {
  let target = RenderTarget(
    identity: PushIdentity(message: MessageID(rawValue: "m"), delivery: DeliveryID(rawValue: "d")), locale: "ko",
    hasServiceExtension: false)

  func render(_ content: PushContent, _ target: RenderTarget? = nil) throws -> JSONSlice {
    try JSONSlice(parsing: PushRenderer().render(content, for: target ?? self.target).payload)
  }

  @Test func aValueIsNeverATemplate() throws {
    let type = try #require(ShippedTypes.all["talent_request"])
    let content = PushContent(
      type: type,
      data: ["requesterName": .text("{talentTitle}"), "talentTitle": .text("{{x|stars}}"), "requestId": .text("r")])
    let body = try render(content)["aps"]?["alert"]?["body"]?.string
    #expect(body == "{talentTitle}님이 \"{{x|stars}}\" 재능을 요청했습니다.")
  }

  @Test func filters() throws {
    func text(_ template: String, _ data: [String: TemplateValue]) throws -> String? {
      try Template(parsing: template).rendered(data)
    }
    #expect(try text("{n|stars}", ["n": .number(3)]) == "⭐⭐⭐")
    #expect(try text("{n|number}", ["n": .number(-1_234_567)]) == "-1,234,567")
    #expect(try text("{n|default:친구}", [:]) == "친구")
    #expect(try text("{n|default:친구}", ["n": .text("")]) == "친구")
    #expect(try text("{n|truncate:3}", ["n": .text("👍🏽👍🏽👍🏽👍🏽")]) == "👍🏽👍🏽…")
    #expect(try text("{n|truncate:3}", ["n": .text("가나다")]) == "가나다")
    #expect(try text("{{n}}", [:]) == "{n}")
    #expect(try text("{n}", [:]) == nil)
    for wrong in ["{n", "n}", "{}", "{n|upper}", "{n|truncate:x}", "{n|truncate:0}", "{a b}"] {
      #expect(throws: NotificationTypeError.self, "\(wrong)") { try Template(parsing: wrong) }
    }
  }

  @Test("OC-25 a long text is cut between graphemes, exactly to the limit")
  func cut() throws {
    let thumb = "👍🏽"
    #expect(
      BodyCut.fit(String(repeating: thumb, count: 1100), into: 4096 - 29) == String(repeating: thumb, count: 508) + "…")
    let type = try #require(ShippedTypes.all["chat_message"])
    let content = PushContent(
      type: type,
      data: [
        "senderName": .text("a"), "message": .text(String(repeating: thumb, count: 1100)), "chatRoomId": .text("r"),
      ])
    let push = try PushRenderer().render(content, for: target)
    #expect(push.isCut)
    #expect((4089...4096).contains(push.payload.count))
    let body = try #require(try JSONSlice(parsing: push.payload)["aps"]?["alert"]?["body"]?.string)
    #expect(body.dropLast().allSatisfy { String($0) == thumb })
    #expect(body.last == "…")
  }

  @Test func aTextOf200GraphemesAndMoreStaysWhole() throws {
    let type = try #require(ShippedTypes.all["chat_message"])
    let message = String(repeating: "가", count: 1000)
    let push = try PushRenderer().render(
      PushContent(
        type: type, data: ["senderName": .text("a"), "message": .text(message), "chatRoomId": .text("r")]),
      for: target)
    #expect(!push.isCut)
    #expect(try JSONSlice(parsing: push.payload)["aps"]?["alert"]?["body"]?.string == message)
  }

  @Test func aFrameOverTheLimitIsRefusedByItsSize() throws {
    let type = try #require(ShippedTypes.all["talent_request"])
    let content = PushContent(
      type: type,
      data: [
        "requesterName": .text("a"), "talentTitle": .text(String(repeating: "x", count: 5000)), "requestId": .text("r"),
      ])
    do throws(RenderFailure) {
      _ = try PushRenderer().render(content, for: target)
      Issue.record("a payload of 5,000 bytes was rendered")
    } catch {
      guard case .tooLarge(let bytes) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(bytes > 5000)
      #expect(error.reason == .payloadTooLarge)
    }
  }

  @Test("OC-27 raw UTF-8, only quotes, backslashes and controls escaped")
  func escaping() throws {
    let content = PushContent(
      type: nil, content: ContentOverride(body: .plain("가<b>&\"'/ 😀"), link: "https://example.com/a/b"))
    let text = String(decoding: try PushRenderer().render(content, for: target).payload, as: UTF8.self)
    #expect(text.contains(#""body":"가<b>&\"'/ 😀""#))
    #expect(text.contains(#""link":"https://example.com/a/b""#))
  }

  @Test func imageSetsRootKeyAndMutableContent() throws {
    let payload = try render(
      PushContent(
        type: nil, content: ContentOverride(title: .plain("t"), body: .plain("b"), image: "https://x/y.png")))
    #expect(payload["image"]?.string == "https://x/y.png")
    #expect(payload["aps"]?["mutable-content"]?.int == 1)
    #expect(payload["aps"]?["sound"]?.string == "default")
  }

  @Test("OC-35 badge: absent, null, 0 and 5")
  func badge() throws {
    func badge(_ choice: PushOptions.Choice<Int>, type: NotificationType? = nil) throws -> JSONSlice? {
      var options = PushOptions()
      options.badge = choice
      return try render(
        PushContent(
          type: type, data: ["reviewerName": .text("a"), "rating": .number(1)],
          content: ContentOverride(body: .plain("b")), options: options))["aps"]?["badge"]
    }
    #expect(try badge(.byType) == nil)
    #expect(try badge(.none) == nil)
    #expect(try badge(.value(0))?.int == 0)
    #expect(try badge(.value(5))?.int == 5)
    #expect(try badge(.byType, type: ShippedTypes.all["review"])?.int == 1)
    #expect(try badge(.none, type: ShippedTypes.all["review"]) == nil)
  }

  @Test func linkValuesCannotChangeTheLink() throws {
    let source = try #require(ShippedTypes.sources.first { $0.contains("talent_request") })
    let pieces = source.split(separator: "\"extras\": \"guide\"", omittingEmptySubsequences: false)
    let type = try NotificationType(parsing: pieces.joined(separator: "\"extras\": \"full\""))
    let payload = try render(
      PushContent(
        type: type,
        data: ["requesterName": .text("a"), "talentTitle": .text("t"), "requestId": .text("../x?y=가")]))
    #expect(payload["link"]?.string == "app://talent-requests/..%2Fx%3Fy%3D%EA%B0%80")
    #expect(payload["aps"]?["thread-id"]?.string == "talent-requests")
  }

  @Test(
    "the device's locale, then its language, then the type's default",
    arguments: [
      ("en-GB", "New review"), ("en_US", "New review"), ("ko-KR", "새로운 리뷰"), ("fr-FR", "새로운 리뷰"), ("", "새로운 리뷰"),
      ("en-Latn-US-x-private", "New review"),
    ])
  func locale(_ locale: String, _ title: String) throws {
    let payload = try render(
      PushContent(type: ShippedTypes.all["review"], data: ["reviewerName": .text("a"), "rating": .number(2)]),
      RenderTarget(identity: target.identity, locale: locale, hasServiceExtension: false))
    #expect(payload["aps"]?["alert"]?["title"]?.string == title)
  }

  @Test func typesRefuseWhatTheyDoNotKnow() {
    let wrong = [
      #"{"name":"x"}"#, #"{"name":"x","frequencyClass":"urgent","contents":{}}"#,
      #"{"name":"x","frequencyClass":"urgent","content":{"ko":{"title":"{a}","body":"b"}},"defaultLocale":"ko"}"#,
      #"{"name":"x","frequencyClass":"urgent","content":{"ko":{"title":"a","body":"b"}},"defaultLocale":"en"}"#,
      #"""
      {"name":"x","frequencyClass":"default","content":{"ko":{"title":"a",\#
      "body":"b"}},"defaultLocale":"ko","presentation":{"payload":{"aps":"x"}}}
      """#,
      #"""
      {"name":"x","frequencyClass":"default","params":{"a":{}},"content":{"ko":{"title":"{a}",\#
      "body":"b"}},"defaultLocale":"ko"}
      """#,
      "{",
    ]
    for source in wrong {
      #expect(throws: NotificationTypeError.self, "\(source)") { try NotificationType(parsing: source) }
    }
  }
}
