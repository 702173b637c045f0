import PabalModel
import PabalPrimitives
import Testing

@Suite("Vocabulary")
struct VocabularyTests {
  @Test("User ids are any UTF-8 without NUL, up to 255 bytes")
  func userIDs() {
    #expect(UserID(checking: "지원/1")?.rawValue == "지원/1")
    #expect(UserID(checking: "") == nil)
    #expect(UserID(checking: "a\u{0}b") == nil)
    #expect(UserID(checking: String(repeating: "가", count: 85)) != nil)
    #expect(UserID(checking: String(repeating: "가", count: 86)) == nil)
  }

  @Test("User ids are the same only byte by byte: é in one and in two characters are two people")
  func userIDsAreBytes() {
    let composed = UserID(rawValue: "caf\u{E9}")
    let decomposed = UserID(rawValue: "cafe\u{301}")
    #expect(composed.rawValue == decomposed.rawValue)
    #expect(!(composed == decomposed))
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, UserID(rawValue: "caf\u{E9}")]).count == 2)
  }

  @Test("Platforms are case-insensitive and closed")
  func platforms() {
    #expect(Platform(checking: "iOS") == .ios)
    #expect(Platform(checking: "symbian") == nil)
  }

  @Test("A provider's word keeps its spelling under the provider's name")
  func reasons() {
    #expect(ReasonCode.apns("BrandNewReason").rawValue == "apns.BrandNewReason")
    #expect(ReasonCode.apns("Unregistered").apnsReason == "Unregistered")
    #expect(ReasonCode.noDevices.apnsReason == nil)
  }

  @Test("The pipeline has thirteen steps in their order")
  func pipeline() {
    #expect(PipelineStep.allCases.count == 13)
    #expect(PipelineStep.allCases.first == .authorise)
    #expect(PipelineStep.allCases.last == .reports)
  }

  @Test("A payload gives its identity and texts; a foreign one gives none")
  func payload() throws {
    let own = try PushPayloadReader(
      parsing: Array(
        #"{"aps":{"alert":{"title":"t","body":"b"},"category":"C"},"pabal":{"m":"msg_1","d":"dlv_2"}}"#.utf8))
    #expect(own.identity?.message.rawValue == "msg_1")
    #expect(own.identity?.delivery.rawValue == "dlv_2")
    #expect(own.title == "t")
    #expect(own.body == "b")
    #expect(own.category == "C")
    let foreign = try PushPayloadReader(parsing: Array(#"{"aps":{"alert":"hi"},"sesac":"project"}"#.utf8))
    #expect(foreign.identity == nil)
    #expect(foreign.body == "hi")
    #expect(foreign["sesac"]?.string == "project")
  }
}
