import APNs
import PabalModel
import PabalPrimitives
import Testing

@Suite struct APNsValidityTests {
  @Test("OC-32 a silent payload becomes background with priority 5") func silent() throws {
    let silent = try parse(#"{"aps":{"content-available":1},"k":"v"}"#)
    let type = try #require(APNsValidity.pushType(inferredFrom: silent))
    let topic = Topic(rawValue: "com.example.app")
    #expect(type == .background)
    #expect(try APNsHead(topic: topic, pushType: type).priority == .conserving)
    #expect(throws: APNsRequestError.self) { try APNsHead(topic: topic, pushType: type, priority: .immediate) }
    let loud = try parse(#"{"aps":{"alert":"x","content-available":1}}"#)
    #expect(APNsValidity.pushType(inferredFrom: loud) == .alert)
    #expect(try APNsHead(topic: topic, pushType: .alert, priority: .immediate).priority == .immediate)
    #expect(APNsValidity.findings(in: loud, as: .alert).isEmpty)
  }

  @Test(
    "OC-90 what is visible decides, not what else is there",
    arguments: [
      (#"{"aps":{"content-available":1,"category":"c"}}"#, "background"),
      (#"{"aps":{"badge":0,"content-available":1}}"#, "alert"),
      (#"{"aps":{"mutable-content":1,"alert":{"title":"t"}}}"#, "alert"),
      (#"{"aps":{},"k":"v"}"#, nil),
      (#"{"k":"v"}"#, nil),
      (#"{"aps":{"alert":null}}"#, nil),
    ] as [(String, String?)])
  func inference(source: String, expected: String?) throws {
    #expect(APNsValidity.pushType(inferredFrom: try parse(source))?.rawValue == expected)
  }

  @Test(
    arguments: [
      (#"{"aps":{"content-available":1}}"#, "alert", "error aps"),
      (#"{"aps":{"content-available":1,"alert":"a"}}"#, "background", "error aps"),
      (#"{"aps":{"content-available":1,"badge":1}}"#, "background", "error aps"),
      (#"{"aps":{"content-available":1,"sound":"a"}}"#, "background", "error aps"),
      (#"{"aps":{}}"#, "background", "error aps.content-available"),
      (#"{"aps":{}}"#, "alert", "error aps"),
      (#"{}"#, "alert", "error aps"),
      (#"{}"#, "voip", nil),
      (#"{"aps":{"mutable-content":1,"badge":1}}"#, "alert", "warning aps.mutable-content"),
      (#"{"aps":{"mutable-content":1,"alert":"a"}}"#, "alert", nil),
      (#"{"aps":{"sound":{"name":"a","critical":0}}}"#, "alert", "warning aps.sound"),
      (#"{"aps":{"sound":{"name":"a","volume":2}}}"#, "alert", "error aps.sound"),
      (#"{"aps":{"alert":"a","interruption-level":"critical"}}"#, "alert", "warning aps.interruption-level"),
      (#"{"aps":{"alert":"a","interruption-level":"time-sensitive"}}"#, "alert", "warning aps.interruption-level"),
      (#"{"aps":{"alert":"a","interruption-level":"passive"}}"#, "alert", nil),
      (#"{"aps":{"alert":"a","relevance-score":75}}"#, "alert", "warning aps.relevance-score"),
      (
        #"{"aps":{"event":"end","timestamp":1,"content-state":{},"relevance-score":75}}"#, "liveactivity", nil
      ),
      (#"{"aps":{"alert":{"loc-args":["a"]}}}"#, "alert", "warning aps.alert.loc-args"),
      (#"{"aps":{"alert":{"loc-key":"k","loc-args":["a"]}}}"#, "alert", nil),
      (#"{"aps":{"badge":-1}}"#, "alert", "error aps.badge"),
      (#"{"aps":{"badge":"1"}}"#, "alert", "error aps.badge"),
      (#"{"aps":{"alert":{"title":"t","title-loc-key":"k"}}}"#, "alert", "warning aps.alert.title-loc-key"),
      (#"{"aps":{"alert":1}}"#, "alert", "error aps.alert"),
      (#"{"aps":{"alert":"a","mine":1}}"#, "alert", "warning aps.mine"),
      (#"{"aps":{"alert":"a","event":"start"}}"#, "alert", "warning aps.event"),
      (#"{"aps":{"event":"end","timestamp":1,"content-state":{}}}"#, "liveactivity", nil),
      (#"{"aps":{"event":"update","content-state":{}}}"#, "liveactivity", "error aps.timestamp"),
      (#"{"aps":{"timestamp":1}}"#, "liveactivity", "error aps.event"),
      (#"{"aps":{"event":"update","timestamp":1,"content-state":[]}}"#, "liveactivity", "error aps.content-state"),
      (#"{"aps":{"event":"end","timestamp":1.5,"content-state":{}}}"#, "liveactivity", "error aps.timestamp"),
      (
        #"{"aps":{"event":"end","timestamp":1800000000000,"content-state":{}}}"#, "liveactivity", "error aps.timestamp"
      ),
      (#"{"aps":{"event":"end","timestamp":1}}"#, "liveactivity", "warning aps.content-state"),
      (#"{"container":"c"}"#, "fileprovider", "warning container-identifier"),
      (#"{"MDM":"m"}"#, "mdm", "warning mdm"), (#"{"mdm":"m"}"#, "mdm", nil),
    ] as [(String, String, String?)])
  func matrix(source: String, type: String, expected: String?) throws {
    let findings = APNsValidity.findings(in: try parse(source), as: APNsPushType(rawValue: type))
    #expect(findings.map { "\($0.severity) \($0.path)" } == [expected].compactMap { $0 })
  }

  @Test("a start of a Live Activity lacks what it lacks") func starts() throws {
    let findings = APNsValidity.findings(in: try parse(#"{"aps":{"event":"start"}}"#), as: .liveactivity)
    #expect(
      findings.map(\.path) == [
        "aps.timestamp", "aps.content-state", "aps.attributes-type", "aps.attributes", "aps.alert",
      ])
    let both =
      #"{"aps":{"event":"start","timestamp":1,"content-state":{},"attributes-type":"A","attributes":{},"#
      + #""alert":{"title":"t","body":"b"},"input-push-channel":"c","input-push-token":1}}"#
    #expect(
      APNsValidity.findings(in: try parse(both), as: .liveactivity).map(\.path) == ["aps.input-push-token"])
  }

  @Test func errorsComeFirstAndRefuse() throws {
    let root = try parse(#"{"aps":{"mine":1,"badge":-1}}"#)
    #expect(APNsValidity.findings(in: root, as: .alert).map(\.severity) == [.error, .warning])
    let error = #expect(throws: APNsRequestError.self) { try APNsValidity.check(root, as: .alert) }
    #expect(error?.message == "aps.badge: the badge must be a whole number from 0, without quotes.")
    try APNsValidity.check(try parse(#"{"aps":{"alert":"a","mine":1}}"#), as: .alert)
  }

  @Test("OC-33 a time to live becomes a point in time; milliseconds are refused") func expirations() throws {
    let now = WallTime(seconds: 1_800_000_000)
    #expect(APNsExpiration(timeToLive: .seconds(86_400), now: now).unixSeconds == 1_800_086_400)
    #expect(APNsExpiration(timeToLive: .zero, now: now) == .attemptOnce)
    #expect(throws: APNsRequestError.self) { try APNsExpiration(unixSeconds: 1_800_086_400_000) }
    #expect(throws: APNsRequestError.self) { try APNsExpiration(unixSeconds: -1) }
  }

  @Test("OC-34 absent, 0 and the past are three different things") func absentZeroAndPast() throws {
    let now = WallTime(seconds: 1_800_000_000)
    let topic = Topic(rawValue: "com.example.app")
    let names = { (head: APNsHead) in head.headers.map(\.name) }
    #expect(!names(try APNsHead(topic: topic, pushType: .alert)).contains("apns-expiration"))
    let once = try APNsHead(topic: topic, pushType: .alert, expiration: try APNsExpiration(unixSeconds: 0))
    #expect(once.headers.last?.name == "apns-expiration")
    #expect(once.headers.last?.value == "0")
    #expect(!APNsExpiration.attemptOnce.isPast(at: now))
    #expect(try APNsExpiration(unixSeconds: 1_799_999_990).isPast(at: now))
    #expect(try !APNsExpiration(unixSeconds: 1_800_000_001).isPast(at: now))
  }

  private func parse(_ source: String) throws -> JSONSlice {
    try APNsPayload.parse(Array(source.utf8))
  }
}
