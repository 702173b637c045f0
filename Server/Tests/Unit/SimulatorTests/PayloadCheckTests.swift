import PabalPrimitives
import Simulator
import Testing

@Suite struct PayloadCheckTests {
  @Test("OC-26 the limit is 4096 bytes, 5120 for voip, of the exact bytes")
  func limits() throws {
    for (type, topic, allowed) in [("alert", "", [4096]), ("voip", ".voip", [4096, 4097, 5120])] {
      for size in [4096, 4097, 5120, 5121] {
        var bench = try PushBench()
        let answer = try bench.send { call in
          (call.pushType, call.topic) = (type, PushBench.topic + topic)
          call.body = ReasonTests.payload(bytes: size)
        }
        #expect(answer.status == (allowed.contains(size) ? 200 : 413), "\(type) \(size)")
        #expect(answer.reason == (allowed.contains(size) ? nil : "PayloadTooLarge"))
      }
    }
  }

  @Test("OC-25 1100 thumbs are counted in bytes: 8829") func thumbs() throws {
    var bench = try PushBench()
    let body = Array(#"{"aps":{"alert":{"body":"\#(String(repeating: "👍🏽", count: 1100))"}}}"#.utf8)
    #expect(body.count == 8829)
    #expect(try bench.send { $0.body = body }.reason == "PayloadTooLarge")
    #expect(bench.core.requests(after: 0, limit: 1) { _ in true }.first?.detail?.contains("8829 bytes") == true)
  }

  @Test(
    "bodies that are payloads",
    arguments: [
      "{}", #" {"aps" : {} } "#, #"{"aps":{},"a":[1,-0,0.5,1e3,1E-2,true,false,null,"\u00e9\ud83d\udc4d\n"]}"#,
      #"{"a":{"x":1},"b":{"x":1}}"#, #"{"한":"글","é":"é"}"#, "{\"a\":\"\u{7F}\"}",
    ])
  func good(_ text: String) throws {
    var bench = try PushBench()
    #expect(try bench.send { $0.body = Array(text.utf8) }.status == 200)
    #expect(bench.inbox.first?.payload == Array(text.utf8), "kept byte for byte")
  }

  static let broken: [(text: [UInt8], problem: String)] = [
    (Array("[]".utf8), "not a JSON object"), (Array("null".utf8), "not a JSON object"),
    ([0xEF, 0xBB, 0xBF] + Array("{}".utf8), "not a JSON object"),
    (Array("{} x".utf8), "after the end"), (Array(#"{"a":1,}"#.utf8), "member name"),
    (Array(#"{"a":[1,]}"#.utf8), "value is missing"), (Array(#"{"a" 1}"#.utf8), "colon"),
    (Array(#"{"a":1 "b":2}"#.utf8), "comma"), (Array(#"{"a":1,"a":2}"#.utf8), "twice"),
    (Array(#"{"a":{"b":1,"\u0062":2}}"#.utf8), "twice"), (Array(#"{"a":01}"#.utf8), "leading zero"),
    (Array(#"{"a":1.}"#.utf8), "digit"), (Array(#"{"a":1e}"#.utf8), "digit"), (Array(#"{"a":+1}"#.utf8), "value"),
    (Array(#"{"a":tru}"#.utf8), "unknown word"), (Array(#"{"a":NaN}"#.utf8), "value"),
    (Array(#"{"a":"\x"}"#.utf8), "escape"), (Array(#"{"a":"\ud83d"}"#.utf8), "surrogate"),
    (Array(#"{"a":"\ud83dx"}"#.utf8), "surrogate"), (Array(#"{"a":"\udc4d\ud83d"}"#.utf8), "surrogate"),
    (Array("{\"a\":\"\n\"}".utf8), "control"), (Array(#"{"a":"b"#.utf8), "without its end"),
    (Array(#"{"a":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8), "UTF-8"),
    (Array(#"{"a":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8), "UTF-8"),
    (Array(#"{"a":""#.utf8) + [0xF4, 0x90, 0x80, 0x80] + Array(#""}"#.utf8), "UTF-8"),
    (Array(#"{"a":""#.utf8) + [0xE2, 0x82] + Array(#""}"#.utf8), "UTF-8"),
    (Array(#"{"a":"#.utf8) + Array(repeating: UInt8(ascii: "["), count: 40), "too deep"),
    (Array("{'a':1}".utf8), "member name"), (Array("{\"aps\":\"x\"}".utf8), "aps is not an object"),
  ]

  @Test("bodies that are none, with the problem in the log", arguments: broken.indices)
  func bad(_ index: Int) throws {
    var bench = try PushBench()
    #expect(try bench.send { $0.body = Self.broken[index].text }.reason == "PayloadEmpty")
    let detail = try #require(bench.core.requests(after: 0, limit: 1) { _ in true }.first?.detail)
    #expect(detail.contains(Self.broken[index].problem), "\(detail)")
  }

  @Test("OC-29 each push type wants its suffix, and no other") func suffixes() throws {
    let suffixes = [
      "alert": "", "voip": ".voip", "complication": ".complication", "fileprovider": ".pushkit.fileprovider",
      "location": ".location-query", "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
      "widgets": ".push-type.widgets", "controls": ".push-type.controls", "background": "",
    ]
    for (type, own) in suffixes {
      for suffix in Set(suffixes.values) {
        var bench = try PushBench()
        let answer = try bench.send { ($0.pushType, $0.topic) = (type, PushBench.topic + suffix) }
        #expect(answer.status == (suffix == own ? 200 : 400), "\(type) \(suffix)")
        if suffix != own { #expect(answer.reason == "TopicDisallowed", "\(type) \(suffix)") }
      }
    }
  }

  @Test("without apns-push-type the suffix says the type") func impliedType() throws {
    var bench = try PushBench()
    #expect(try bench.send { $0.pushType = nil }.status == 200)
    let call = try bench.send { call in
      (call.pushType, call.topic) = (nil, PushBench.topic + ".voip")
      call.body = ReasonTests.payload(bytes: 5120)
    }
    #expect(call.status == 200)
    #expect(bench.inbox.map(\.pushType) == [nil, nil])
  }

  @Test("OC-32 an alert with content-available may have priority 10") func alertWithBackground() throws {
    var bench = try PushBench()
    let body = Array(#"{"aps":{"alert":"x","content-available":1}}"#.utf8)
    #expect(try bench.send { ($0.body, $0.priority) = (body, "10") }.status == 200)
    #expect(try bench.send { ($0.pushType, $0.priority) = ("background", "5") }.status == 200)
  }

  @Test("apns-id is echoed as sent or made; apns-unique-id is the sandbox's") func identifiers() throws {
    var bench = try PushBench()
    let id = "EEF1A2B3-0000-4000-8000-00000000ABCD"
    let echoed = try bench.send { $0.id = id }
    #expect(echoed.header("apns-id") == id)
    #expect(echoed.reply?.body == [])
    #expect(bench.inbox.first?.apnsID == id)
    #expect(bench.inbox.first?.uniqueID == echoed.header("apns-unique-id"))
    let made = try bench.send()
    #expect(made.header("apns-id") != id)
    #expect(made.header("apns-id")?.count == 36)
    var draft = StandInDeviceDraft(topic: PushBench.topic)
    draft.environment = .production
    let device = try bench.core.addDevice(draft)
    let production = bench.core.connectionOpened(.production)
    let answer = try bench.send(on: production) { $0.path = "/3/device/" + Hex.encode(device.token) }
    #expect(answer.status == 200)
    #expect(answer.header("apns-unique-id") == nil)
  }

  @Test("a token in upper case is the same token") func upperCase() throws {
    var bench = try PushBench()
    #expect(try bench.send { $0.path = "/3/device/" + PushBench.hex.uppercased() }.status == 200)
  }
}
