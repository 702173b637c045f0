import APNs
import PabalModel
import PabalPrimitives
import Testing

@Suite struct APNsPayloadTests {
  @Test("OC-25 without truncation, a text that is too long is refused with its count of bytes")
  func countsBytes() {
    let content = APNsContent(body: .literal(String(repeating: "👍🏽", count: 1100)))
    let error = #expect(throws: APNsRequestError.self) { try content.payload() }
    #expect(error?.code == "payload_too_large")
    #expect(error?.message.contains("8829 bytes") == true)
  }

  @Test(
    "OC-26 the limit is that of the push type",
    arguments: [
      (4096, true, true), (4097, false, true), (5120, false, true), (5121, false, false),
    ])
  func limits(bytes: Int, alert: Bool, voip: Bool) {
    let frame = #"{"aps":{"alert":""}}"#
    let source = Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: bytes - frame.utf8.count))"}}"#.utf8)
    #expect(source.count == bytes)
    #expect(((try? APNsPayload(checking: source, for: .alert)) != nil) == alert)
    #expect(((try? APNsPayload(checking: source, for: .voip)) != nil) == voip)
    let error = #expect(throws: APNsRequestError.self) {
      try APNsPayload(checking: [UInt8](repeating: 0x20, count: 5121) + Array("{}".utf8), for: .voip)
    }
    #expect(error?.message.contains("may have 5120") == true)
  }

  @Test("OC-27 only what must be escaped is escaped") func minimalEscaping() throws {
    let content = APNsContent(
      body: #"가<b>&"'/ 😀"#, custom: [JSONMember("url", "https://example.com/a/b")])
    #expect(
      text(try content.payload())
        == #"{"aps":{"alert":{"body":"가<b>&\"'/ 😀"}},"url":"https://example.com/a/b"}"#)
  }

  @Test func membersKeepOneOrder() throws {
    let content = APNsContent(
      title: "t", subtitle: "s", body: "b", badge: try APNsBadge(0), sound: .named("ding.caf"), threadID: "th",
      category: "c", isMutable: true, wakesApp: true, interruptionLevel: .timeSensitive, relevanceScore: 0.5,
      custom: [JSONMember("z", .raw(Array("1.50".utf8))), JSONMember("a", nil)])
    #expect(
      text(try content.payload())
        == #"{"aps":{"alert":{"title":"t","subtitle":"s","body":"b"},"badge":0,"sound":"ding.caf","thread-id":"th","#
        + #""category":"c","content-available":1,"mutable-content":1,"interruption-level":"time-sensitive","#
        + #""relevance-score":0.5},"z":1.50,"a":null}"#)
  }

  @Test("OC-35 a badge is absent or a whole number from 0") func badges() throws {
    #expect(try read(#"{}"#) == nil)
    #expect(try read(#"{"badge":null}"#) == nil)
    #expect(try read(#"{"badge":0}"#)?.number == 0)
    #expect(try read(#"{"badge":5}"#)?.number == 5)
    for source in [#"{"badge":"5"}"#, #"{"badge":-1}"#, #"{"badge":1.5}"#] {
      let error = #expect(throws: APNsRequestError.self) { try read(source) }
      #expect(error?.code == "badge_invalid")
    }
    #expect(text(try APNsContent(badge: try APNsBadge(0)).payload()) == #"{"aps":{"badge":0}}"#)
    #expect(text(try APNsContent(body: "b").payload()) == #"{"aps":{"alert":{"body":"b"}}}"#)

    func read(_ source: String) throws -> APNsBadge? {
      try APNsBadge.read(try JSONSlice(parsing: Array(source.utf8))["badge"])
    }
  }

  @Test("OC-91 a sound stays what it is: a string or an object") func sounds() throws {
    #expect(try sent(#""ding.caf""#) == #"{"aps":{"sound":"ding.caf"}}"#)
    #expect(
      try sent(#"{"name":"ding.caf","critical":1,"volume":0.5}"#)
        == #"{"aps":{"sound":{"critical":1,"name":"ding.caf","volume":0.5}}}"#)
    #expect(try sent(#"{"name":"a","critical":true}"#) == #"{"aps":{"sound":{"critical":1,"name":"a"}}}"#)
    #expect(try APNsSound.read(try JSONSlice(parsing: Array("null".utf8))) == nil)
    for source in [
      #"{"name":"a","volume":1.5}"#, #"{"name":"a","critical":2}"#, #"{"critical":1}"#, #"{"name":"a","x":1}"#, "5",
      #""""#,
    ] {
      let error = #expect(throws: APNsRequestError.self) { try sent(source) }
      #expect(error?.code == "sound_invalid")
    }

    func sent(_ source: String) throws -> String {
      text(try APNsContent(sound: try APNsSound.read(try JSONSlice(parsing: Array(source.utf8)))).payload())
    }
  }

  @Test func aWholePayloadIsSentByteForByte() throws {
    let source = "{ \"b\" : 1.0 ,\"a\":1e2, \"aps\":{\"alert\":\"\\u00e9 \\/\"} }"
    for end in ["", "\n", "\r\n"] {
      #expect(text(try APNsPayload(checking: Array((source + end).utf8), for: .alert)) == source)
    }
    #expect(text(try APNsPayload(checking: Array((source + "\n\n").utf8), for: .alert)) == source + "\n")
  }

  @Test func refusesWhatIsNoPayload() {
    let sources = ["", "[]", "1", #"{"aps":1}"#, "{", "{}x", #"{"a":1,"a":2}"#, "\u{FEFF}{}", #"{"a":"\ud83d"}"#]
    for source in sources {
      let error = #expect(throws: APNsRequestError.self, "\(source)") {
        try APNsPayload(checking: Array(source.utf8), for: .alert)
      }
      #expect(error?.code == "payload_invalid")
    }
    #expect(throws: APNsRequestError.self) { try APNsPayload(checking: [0x22, 0xFF, 0x22], for: .alert) }
    #expect(throws: APNsRequestError.self) { try APNsContent(custom: [JSONMember("a", 1)]).payload() }
    #expect(throws: APNsRequestError.self) { try APNsContent(body: "b", relevanceScore: 1.5).payload() }
  }

  private func text(_ payload: APNsPayload) -> String { String(decoding: payload.bytes, as: UTF8.self) }
}
