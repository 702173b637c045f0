import APNs
import PabalPrimitives
import Testing

@Suite struct APNsTruncationTests {
  private let thumb = "👍🏽"

  @Test("OC-25 a text that is too long is cut between whole emoji, to the last byte")
  func wholeEmoji() throws {
    let text = String(repeating: thumb, count: 1100)
    let source = #"{"aps":{"alert":{"body":"\#(text)"}}}"#
    #expect(source.utf8.count == 8829)
    let (payload, truncation) = try APNsPayload.fitting(Array(source.utf8), for: .alert)
    let kept = String(repeating: thumb, count: 508)
    #expect(string(payload) == #"{"aps":{"alert":{"body":"\#(kept)…"}}}"#)
    #expect(payload.bytes.count == 4096)
    let cut = try #require(truncation)
    #expect(cut.path == "aps.alert.body")
    #expect([cut.charactersBefore, cut.charactersAfter] == [1100, 508])
    #expect([cut.bytesBefore, cut.bytesAfter] == [8829, 4096])
    #expect(
      cut.sentence == "aps.alert.body was cut from 1100 to 508 characters and ends with …; "
        + "the payload has 4096 bytes instead of 8829.")
    let content = try APNsContent(body: .literal(text)).fittingPayload()
    #expect(content.payload == payload)
  }

  @Test("what fits stays as it is, to the byte") func fits() throws {
    let frame = #"{"aps":{"alert":""}}"#.utf8.count
    for (bytes, type) in [(4096, APNsPushType.alert), (5120, .voip)] {
      let source = #"{"aps":{"alert":"\#(String(repeating: "a", count: bytes - frame))"}}"#
      let (payload, truncation) = try APNsPayload.fitting(Array(source.utf8), for: type)
      #expect(truncation == nil)
      #expect(string(payload) == source)
    }
  }

  @Test("everything but the body keeps its bytes; escapes are counted as they are sent")
  func splice() throws {
    let long = String(repeating: #"\n\u00e9\""#, count: 2000)
    let source = #"{ "z":1.50, "aps" : {"alert" : "\#(long)" ,"badge":1}, "\u0061":"\/" }"#
    let (payload, truncation) = try APNsPayload.fitting(Array((source + "\n").utf8), for: .alert)
    let result = string(payload)
    #expect(result.hasPrefix(#"{ "z":1.50, "aps" : {"alert" : "\né\""#))
    #expect(result.hasSuffix(#"…" ,"badge":1}, "\u0061":"\/" }"#))
    #expect((4091...4096).contains(payload.bytes.count))
    #expect(truncation?.path == "aps.alert")
    _ = try JSONSlice(parsing: payload.bytes)
  }

  @Test("families, flags and combining marks are never cut in two") func graphemes() throws {
    for unit in ["👨‍👩‍👧‍👦", "🇰🇷", "e\u{301}\u{323}", "한", "각"] {
      for pad in 0..<9 {
        let text = String(repeating: "a", count: pad) + String(repeating: unit, count: 4000)
        let source = #"{"aps":{"alert":{"body":"\#(text)"}}}"#
        let (payload, truncation) = try APNsPayload.fitting(Array(source.utf8), for: .alert)
        let after = try #require(truncation).charactersAfter
        let kept = String(repeating: "a", count: pad) + String(repeating: unit, count: after - pad)
        #expect(string(payload) == #"{"aps":{"alert":{"body":"\#(kept)…"}}}"#)
        #expect(payload.bytes.count <= 4096 && payload.bytes.count + unit.utf8.count > 4096)
      }
    }
  }

  @Test("what is too large for another reason is refused") func elsewhere() {
    let long = String(repeating: "a", count: 5000)
    for source in [
      #"{"aps":{"alert":{"title":"\#(long)","body":"b"}}}"#, #"{"aps":{"alert":"b"},"x":"\#(long)"}"#,
      #"{"x":"\#(long)"}"#, #"{"aps":{"alert":{"body":{"loc-key":"\#(long)"}}}}"#,
    ] {
      let error = #expect(throws: APNsRequestError.self) { try APNsPayload.fitting(Array(source.utf8), for: .alert) }
      #expect(error?.code == "payload_too_large")
    }
  }

  private func string(_ payload: APNsPayload) -> String { String(decoding: payload.bytes, as: UTF8.self) }
}
