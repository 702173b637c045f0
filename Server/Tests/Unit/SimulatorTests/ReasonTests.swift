import Cryptography
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// Every reason of Apple's table that a client can provoke, provoked by doing the wrong thing; no fault rule is set.
@Suite struct ReasonTests {
  struct Wrong: Sendable, CustomTestStringConvertible {
    let reason: StandInReason
    let what: String
    let change: @Sendable (inout PushCall) -> Void

    init(_ reason: StandInReason, _ what: String, _ change: @escaping @Sendable (inout PushCall) -> Void) {
      self.reason = reason
      self.what = what
      self.change = change
    }

    var testDescription: String { "\(reason.word): \(what)" }
  }

  /// One wrong header, path or body each.
  static let wrongRequests: [Wrong] = [
    Wrong(.methodNotAllowed, "GET") { $0.method = "GET" },
    Wrong(.methodNotAllowed, "PUT on an unknown path") { ($0.method, $0.path) = ("PUT", "/x") },
    Wrong(.badPath, "another version") { $0.path = "/4/device/aa" },
    Wrong(.badPath, "a segment too many") { $0.path += "/x" },
    Wrong(.badPath, "a query") { $0.path += "?a=b" },
    Wrong(.badPath, "no device segment") { $0.path = "/3/device" },
    Wrong(.missingDeviceToken, "OC-42 an empty token") { $0.path = "/3/device/" },
    Wrong(.duplicateHeaders, "apns-topic twice") { $0.further = [StandInHeader("apns-topic", PushBench.topic)] },
    Wrong(.duplicateHeaders, "another header twice") {
      $0.further = [StandInHeader("x-a", "1"), StandInHeader("x-a", "1")]
    },
    Wrong(.missingProviderToken, "no authorization") { $0.authorization = nil },
    Wrong(.missingProviderToken, "another scheme") { $0.authorization = "basic abc" },
    Wrong(.missingProviderToken, "no token after bearer") { $0.authorization = "bearer " },
    Wrong(.missingTopic, "no apns-topic") { $0.topic = nil },
    Wrong(.missingTopic, "an empty topic") { $0.topic = "" },
    Wrong(.badTopic, "a blank in the topic") { $0.topic = "com.example app" },
    Wrong(.badTopic, "an endless topic") { $0.topic = String(repeating: "a", count: 256) },
    Wrong(.topicDisallowed, "an app of nobody") { $0.topic = "com.example.nobody" },
    Wrong(.topicDisallowed, "a suffix that is not the type's") { $0.topic = PushBench.topic + ".voip" },
    Wrong(.invalidPushType, "an unknown type") { $0.pushType = "shout" },
    Wrong(.invalidPushType, "upper case") { $0.pushType = "Alert" },
    Wrong(.badPriority, "7") { $0.priority = "7" },
    Wrong(.badPriority, "no number") { $0.priority = "high" },
    Wrong(.badPriority, "OC-32 background with 10") {
      ($0.pushType, $0.priority) = ("background", "10")
      $0.body = Array(#"{"aps":{"content-available":1},"k":"v"}"#.utf8)
    },
    Wrong(.badExpirationDate, "a date in text") { $0.expiration = "tomorrow" },
    Wrong(.badExpirationDate, "negative") { $0.expiration = "-1" },
    Wrong(.badExpirationDate, "OC-33 milliseconds") { $0.expiration = "1800086400000" },
    Wrong(.badCollapseId, "65 bytes") { $0.collapseID = String(repeating: "c", count: 65) },
    Wrong(.badCollapseId, "22 letters of 3 bytes") { $0.collapseID = String(repeating: "한", count: 22) },
    Wrong(.badMessageId, "no UUID") { $0.id = "message-1" },
    Wrong(.badMessageId, "a UUID without dashes") { $0.id = String(repeating: "0", count: 32) },
    Wrong(.payloadEmpty, "no body") { $0.body = [] },
    Wrong(.payloadEmpty, "no JSON") { $0.body = Array("hello".utf8) },
    Wrong(.payloadEmpty, "aps is a list") { $0.body = Array(#"{"aps":[]}"#.utf8) },
    Wrong(.payloadTooLarge, "4097 bytes") { $0.body = payload(bytes: 4097) },
    Wrong(.payloadTooLarge, "cut by the HTTP/2 layer") { $0.bodyWasCut = true },
    Wrong(.badDeviceToken, "unknown token") { $0.path = "/3/device/" + String(repeating: "bb", count: 32) },
    Wrong(.badDeviceToken, "OC-42 no hex") { $0.path = "/3/device/deadbeefzz" },
    Wrong(.badDeviceToken, "OC-42 (null)") { $0.path = "/3/device/(null)" },
    Wrong(.badDeviceToken, "odd length") { $0.path.removeLast() },
  ]

  @Test(arguments: wrongRequests) func provoked(_ wrong: Wrong) throws {
    var bench = try PushBench()
    let answer = try bench.send { wrong.change(&$0) }
    #expect(answer.status == wrong.reason.status)
    #expect(answer.reason == wrong.reason.word)
    #expect(answer.header("content-type") == "application/json")
    #expect(answer.header("apns-id")?.count == 36)
    #expect(answer.header("apns-unique-id") == nil)
    #expect(bench.inbox.isEmpty)
    #expect(bench.core.statistics.byReason == [wrong.reason.word: 1])
  }

  static func payload(bytes: Int) -> [UInt8] {
    let frame = #"{"aps":{"alert":""}}"#
    return Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: bytes - frame.utf8.count))"}}"#.utf8)
  }

  /// Reasons that take more than one request, a key or a device of another kind; each has its own test.
  static let provokedElsewhere: Set<String> = [
    "InvalidProviderToken", "ExpiredProviderToken", "TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken",
    "BadEnvironmentKeyInToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken", "BadCertificate",
    "BadCertificateEnvironment", "IdleTimeout",
  ]

  /// Reasons that no request can provoke here, and why.
  static let scriptedOnly: [String: String] = [
    "Forbidden": "Apple does not say which action is forbidden",
    "TooManyRequests": "the rate that Apple allows for one device is not published",
    "InternalServerError": "a fault of the server's own",
    "ServiceUnavailable": "a state of the server's own",
    "Shutdown": "a state of the server's own",
  ]

  @Test func everyReasonIsAccountedFor() {
    let provoked = Set(Self.wrongRequests.map(\.reason.word)).union(Self.provokedElsewhere)
    #expect(provoked.union(Self.scriptedOnly.keys) == Set(StandInReason.all.map(\.word)))
    #expect(provoked.isDisjoint(with: Self.scriptedOnly.keys))
  }

  @Test(arguments: scriptedOnly.keys.sorted()) func scripted(_ word: String) throws {
    var bench = try PushBench()
    let reason = try #require(StandInReason.all.first { $0.word == word })
    bench.core.setFaults(
      [FaultRule(effect: .status(reason.status, reason: word, timestamp: nil, taken: false))], seed: 1)
    let answer = try bench.send()
    #expect(answer.status == reason.status)
    #expect(answer.reason == word)
    #expect(bench.inbox.isEmpty)
  }

  @Test func deviceTokenNotForTopic() throws {
    var bench = try PushBench()
    _ = try bench.core.addDevice(StandInDeviceDraft(topic: "com.example.other"))
    let answer = try bench.send { $0.topic = "com.example.other" }
    #expect(answer.status == 400)
    #expect(answer.reason == "DeviceTokenNotForTopic")
  }

  @Test("each personality refuses the other's tokens") func environments() throws {
    var bench = try PushBench()
    let production = bench.core.connectionOpened(.production)
    #expect(try bench.send(on: production).reason == "BadDeviceToken")
    #expect(try bench.send().status == 200)
  }

  @Test("OC-20 410 carries the milliseconds at which the token died") func unregistered() throws {
    var bench = try PushBench()
    _ = try bench.core.setState(.unregistered(at: 1_799_568_000_000), ofDevice: "phone")
    let answer = try bench.send()
    #expect(answer.status == 410)
    #expect(answer.reply?.body == Array(#"{"reason":"Unregistered","timestamp":1799568000000}"#.utf8))
    _ = try bench.core.setState(.expired(at: 5), ofDevice: "phone")
    let expired = try bench.send()
    #expect(expired.reason == "ExpiredToken")
    #expect(expired.timestamp == 5)
  }

  @Test("the checks keep their order: mending one mistake shows the next") func order() throws {
    var bench = try PushBench()
    let good = try bench.bearer()
    let mistakes: [(reason: StandInReason, make: (inout PushCall) -> Void)] = [
      (.methodNotAllowed, { $0.method = "DELETE" }),
      (.badPath, { $0.path = "/nowhere" }),
      (.duplicateHeaders, { $0.further = [StandInHeader("x", "1"), StandInHeader("x", "2")] }),
      (.missingProviderToken, { $0.authorization = nil }),
      (.missingTopic, { $0.topic = nil }),
      (.invalidPushType, { $0.pushType = "shout" }),
      (.badPriority, { $0.priority = "2" }),
      (.badExpirationDate, { $0.expiration = "x" }),
      (.badCollapseId, { $0.collapseID = "" }),
      (.badMessageId, { $0.id = "x" }),
      (.payloadEmpty, { $0.body = [] }),
      (.badDeviceToken, { if $0.path != "/nowhere" { $0.path = "/3/device/zz" } }),
    ]
    for first in mistakes.indices {
      let answer = try bench.send(authorization: good) { call in
        for mistake in mistakes[first...].reversed() { mistake.make(&call) }
      }
      #expect(answer.reason == mistakes[first].reason.word)
    }
  }

  @Test("the tables are those typed from Apple's pages") func fixture() throws {
    let rules = try JSONSlice(parsing: TestFiles.fixture("apns-rules.json"))
    let types = try #require(rules["pushTypes"]?.elements)
    #expect(types.compactMap { $0["name"]?.string } == StandInPushType.allCases.map(\.rawValue))
    for row in types {
      let type = try #require(StandInPushType(rawValue: row["name"]?.string ?? ""))
      #expect(row["topicSuffix"]?.string == type.topicSuffix)
      #expect(row["maximumPayloadBytes"]?.int == type.payloadLimit)
      #expect(type.wantsToken == (row["certificate"]?.bool == false))
    }
    let replies = try #require(rules["replies"]?.elements)
    let published = Set(replies.compactMap { row in row["reason"]?.string.map { "\(row["status"]?.int ?? 0) \($0)" } })
    // The page's spelling is never seen on the wire.
    let spoken = published.subtracting(["403 BadEnvironmentKeyIdInToken"])
    #expect(spoken == Set(StandInReason.all.map { "\($0.status) \($0.word)" }))
    #expect(rules["collapseIdMaximumBytes"]?.int == 64)
    for row in try #require(rules["headers"]?.elements) {
      let name = try #require(row["name"]?.string)
      var bench = try PushBench()
      let good = try bench.bearer()
      let wrong = try bench.send(authorization: name == "authorization" ? "bearer x.y.z" : good) {
        Self.spoil(name, in: &$0)
      }
      #expect(wrong.reason == row["reasonWhenWrong"]?.string, "\(name)")
      let missing = try bench.send { Self.drop(name, from: &$0) }
      #expect(missing.reason == row["reasonWhenMissing"]?.string, "\(name)")
    }
  }

  private static func spoil(_ name: String, in call: inout PushCall) {
    switch name {
    case "apns-push-type": call.pushType = "?"
    case "apns-topic": call.topic = "?"
    case "apns-id": call.id = "?"
    case "apns-expiration": call.expiration = "?"
    case "apns-priority": call.priority = "?"
    case "authorization": break
    default: call.collapseID = String(repeating: "?", count: 65)
    }
  }

  private static func drop(_ name: String, from call: inout PushCall) {
    switch name {
    case "authorization": call.authorization = nil
    case "apns-topic": call.topic = nil
    case "apns-push-type": call.pushType = nil
    default: break
    }
  }
}
