import APNs
import PabalModel
import PabalPrimitives
import Testing

/// The exact headers and bytes of a push of each kind.
@Suite struct APNsNotificationTests {
  private let call = [JSONMember("call", "42")]
  private let bundle = Topic(rawValue: "com.example.app")

  @Test("OC-36 the body holds the user's data and nothing of the request") func bodies() throws {
    try expect(APNsVoIP(call), #"{"call":"42"}"#)
    try expect(APNsLocationQuery(), #"{"aps":{}}"#)
    try expect(APNsBackground(call), #"{"aps":{"content-available":1},"call":"42"}"#)
    try expect(APNsComplication(call), #"{"call":"42"}"#)
    try expect(
      APNsFileProviderChange(containerIdentifier: "c", domain: "d"), #"{"container-identifier":"c","domain":"d"}"#)
    try expect(APNsPushToTalk(.data(call)), #"{"call":"42"}"#)
    try expect(APNsPushToTalk(.serviceUpdate), #"{"aps":{"ptt-push-type":"service-update"}}"#)
    try expect(APNsWidgetsReload(), #"{"aps":{"content-changed":true}}"#)
    try expect(APNsControlsReload(), #"{"aps":{"content-changed":true}}"#)
    try expect(APNsDeviceManagement(pushMagic: "m"), #"{"mdm":"m"}"#)
    try expect(APNsAlert(APNsContent(body: "b", custom: call)), #"{"aps":{"alert":{"body":"b"}},"call":"42"}"#)
    let nested = [JSONMember("m", .raw(Array(#"{"a":[1,{"b":null}]}"#.utf8)))]
    try expect(APNsVoIP(nested), #"{"m":{"a":[1,{"b":null}]}}"#)
    for custom in [[JSONMember("aps", 1)], call + call] {
      #expect(throws: APNsRequestError.self) { try APNsVoIP(custom).payload() }
      #expect(throws: APNsRequestError.self) { try APNsContent(body: "b", custom: custom).payload() }
    }
  }

  @Test("OC-29 the headers follow from the type") func heads() throws {
    try expect(APNsAlert(APNsContent(body: "b"), collapseID: "c"), "", "alert", 10)
    try expect(APNsBackground(), "", "background", 5)
    try expect(APNsVoIP(call), ".voip", "voip", 10, "0")
    try expect(APNsComplication(call), ".complication", "complication", 10)
    try expect(APNsFileProviderChange(containerIdentifier: "c"), ".pushkit.fileprovider", "fileprovider", 10)
    try expect(APNsLocationQuery(), ".location-query", "location", 10)
    try expect(APNsPushToTalk(.serviceUpdate), ".voip-ptt", "pushtotalk", 10, "0")
    try expect(APNsWidgetsReload(), ".push-type.widgets", "widgets", 10)
    try expect(APNsControlsReload(), ".push-type.controls", "controls", 10)
    let end = APNsLiveActivity(.end(.init()), timestamp: WallTime(seconds: 1), urgency: .conserving)
    try expect(end, ".push-type.liveactivity", "liveactivity", 5)
    let management = Topic(rawValue: "com.apple.mgmt.External.1")
    #expect(try APNsDeviceManagement(pushMagic: "m").head(for: management).topic == management)
  }

  @Test("what a kind of push sends passes the rules for what others send") func passTheMatrix() throws {
    let activity = APNsLiveActivity(.end(.init(state: [])), timestamp: WallTime(seconds: 1))
    let all: [any APNsNotification] = [
      APNsAlert(APNsContent(body: "b")), APNsBackground(), APNsVoIP(call), APNsComplication(call),
      APNsFileProviderChange(containerIdentifier: "c"), APNsLocationQuery(), APNsPushToTalk(.serviceUpdate),
      APNsWidgetsReload(), APNsControlsReload(), APNsDeviceManagement(pushMagic: "m"), activity,
    ]
    #expect(Set(all.map { type(of: $0).pushType }) == Set(APNsPushType.known))
    for notification in all {
      let type = type(of: notification).pushType
      let root = try APNsPayload.parse(notification.payload().bytes)
      #expect(APNsValidity.findings(in: root, as: type).isEmpty, "\(type.rawValue)")
    }
  }

  @Test("Live Activities: start, update and end") func liveActivities() throws {
    let time = WallTime(seconds: 1_800_000_000)
    let state = [JSONMember("score", 3)]
    let alert = APNsLiveActivity.Alert(
      title: .localized(key: "T", arguments: ["a"]), body: "b", sound: "default")
    let alertText = #"{"title":{"loc-key":"T","loc-args":["a"]},"body":"b","sound":"default"}"#
    let start = APNsLiveActivity.Start(
      attributesType: "Game", attributes: [JSONMember("id", 1)], state: state, alert: alert, updates: .withNewToken)
    try expect(
      APNsLiveActivity(.start(start), timestamp: time),
      #"{"aps":{"timestamp":1800000000,"event":"start","content-state":{"score":3},"attributes-type":"Game","#
        + #""attributes":{"id":1},"alert":\#(alertText),"input-push-token":1}}"#)
    try expect(
      APNsLiveActivity(
        .update(.init(state: state, staleDate: time, relevanceScore: 75)), timestamp: time, urgency: .conserving),
      #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"score":3},"stale-date":1800000000,"#
        + #""relevance-score":75}}"#)
    try expect(
      APNsLiveActivity(.end(.init(state: state, alert: alert, dismissalDate: time)), timestamp: time),
      #"{"aps":{"timestamp":1800000000,"event":"end","content-state":{"score":3},"alert":\#(alertText),"#
        + #""dismissal-date":1800000000}}"#)
    let twice = APNsLiveActivity(.update(.init(state: state + state)), timestamp: time)
    #expect(throws: APNsRequestError.self) { try twice.payload() }
  }

  @Test("OC-95 a text that is a key only has neither an empty title nor an empty body") func keyOnly() throws {
    try expect(
      APNsAlert(APNsContent(body: .localized(key: "BODY", arguments: ["x"]))),
      #"{"aps":{"alert":{"loc-key":"BODY","loc-args":["x"]}}}"#)
    try expect(
      APNsAlert(
        APNsContent(title: .localized(key: "T"), subtitle: .localized(key: "S", arguments: ["1"]), launchImage: "i")),
      #"{"aps":{"alert":{"title-loc-key":"T","subtitle-loc-key":"S","subtitle-loc-args":["1"],"launch-image":"i"}}}"#)
    // In a whole payload both forms of one text may stand; it is sent as given, with a warning.
    let both = try APNsPayload.parse(Array(#"{"aps":{"alert":{"body":"b","loc-key":"BODY"}}}"#.utf8))
    #expect(APNsValidity.findings(in: both, as: .alert).map(\.severity) == [.warning])
  }

  @Test func everyMemberOfApsHasItsPlace() throws {
    try expect(
      APNsAlert(
        APNsContent(
          body: "b", targetContentID: "w", interruptionLevel: .passive, relevanceScore: 1, filterCriteria: "f")),
      #"{"aps":{"alert":{"body":"b"},"target-content-id":"w","interruption-level":"passive","relevance-score":1,"#
        + #""filter-criteria":"f"}}"#)
  }

  private func expect(
    _ notification: some APNsNotification, _ body: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let payload = try notification.payload()
    #expect(String(decoding: payload.bytes, as: UTF8.self) == body, sourceLocation: location)
  }

  private func expect(
    _ notification: some APNsNotification, _ suffix: String, _ type: String, _ priority: Int,
    _ expiration: String? = nil, at location: SourceLocation = #_sourceLocation
  ) throws {
    let token = try #require(DeviceToken(bytes: [1]))
    let headers = try notification.request(to: token, of: bundle).head.headers
    let value = { (name: String) in headers.first { $0.name == name }?.value }
    #expect(value("apns-topic") == "com.example.app" + suffix, sourceLocation: location)
    #expect(value("apns-push-type") == type, sourceLocation: location)
    #expect(value("apns-priority") == String(priority), sourceLocation: location)
    #expect(value("apns-expiration") == expiration, sourceLocation: location)
    #expect(value("apns-collapse-id") == notification.collapseID, sourceLocation: location)
  }
}
