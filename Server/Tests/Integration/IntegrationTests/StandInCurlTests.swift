import Cryptography
import PabalPrimitives
import Simulator
import TestSupport
import Testing

/// The stand-in against curl: TLS, ALPN, HTTP/2, every reason over the wire.
@Suite struct StandInCurlTests {
  @Test("a good push is 200, with its headers and an empty body, and is in the inbox") func accepted() async throws {
    let peer = try await StandInCurl()
    let id = "11112222-3333-4444-5555-666677778888"
    let reply = try await peer.push(headers: StandInCurl.good + ["apns-id: \(id)", "apns-priority: 5"])
    #expect(reply.status == 200)
    #expect(reply.body == "")
    #expect(reply.headers["apns-id"] == id)
    #expect(reply.headers["apns-unique-id"]?.count == 36)
    #expect(reply.headers["content-type"] == nil)
    let inbox = try await peer.control("GET", "/inbox?device=\(peer.device.id)")
    let item = try #require(inbox.json?["data"]?.elements.first)
    #expect(item["apnsId"]?.string == id)
    #expect(item["priority"]?.int == 5)
    #expect(item["payloadBase64"]?.string == Base64.encode(Array(StandInCurl.payload.utf8)))
    let requests = try await peer.control("GET", "/requests?token=\(Hex.encode(peer.device.token))")
    let entry = try #require(requests.json?["data"]?.elements.first)
    let names = entry["headers"]?.elements.compactMap { $0.elements.first?.string } ?? []
    #expect(Set(names).isSuperset(of: [":method", ":path", "authorization", "apns-topic", "user-agent"]))
    #expect(!String(decoding: entry.bytes, as: UTF8.self).contains(peer.bearer.dropFirst(40)))
    await peer.standIn.stop()
  }

  struct Wrong: Sendable, CustomTestStringConvertible {
    let reason: StandInReason
    var path: String?
    var method = "POST"
    var headers = StandInCurl.good
    var authorization: String? = ""
    var body = StandInCurl.payload

    init(_ reason: StandInReason, _ change: (inout Wrong) -> Void) {
      self.reason = reason
      change(&self)
    }

    var testDescription: String { reason.word }
  }

  static let wrong: [Wrong] = [
    Wrong(.methodNotAllowed) { $0.method = "PUT" },
    Wrong(.badPath) { $0.path = "/3/devices/aa" },
    Wrong(.missingDeviceToken) { $0.path = "/3/device/" },
    Wrong(.duplicateHeaders) { $0.headers += ["apns-push-type: alert"] },
    Wrong(.missingProviderToken) { $0.authorization = nil },
    Wrong(.invalidProviderToken) { $0.authorization = "bearer abc" },
    Wrong(.missingTopic) { $0.headers = ["apns-push-type: alert"] },
    Wrong(.badTopic) { $0.headers = ["apns-topic: com_example", "apns-push-type: alert"] },
    Wrong(.topicDisallowed) { $0.headers = ["apns-topic: com.example.app.voip", "apns-push-type: alert"] },
    Wrong(.invalidPushType) { $0.headers = ["apns-topic: com.example.app", "apns-push-type: loud"] },
    Wrong(.badPriority) { $0.headers += ["apns-priority: 11"] },
    Wrong(.badExpirationDate) { $0.headers += ["apns-expiration: soon"] },
    Wrong(.badCollapseId) { $0.headers += ["apns-collapse-id: " + String(repeating: "c", count: 65)] },
    Wrong(.badMessageId) { $0.headers += ["apns-id: 1"] },
    Wrong(.payloadEmpty) { $0.body = "" },
    Wrong(.payloadTooLarge) { $0.body = #"{"aps":{"alert":"\#(String(repeating: "a", count: 4096))"}}"# },
    Wrong(.payloadTooLarge) { $0.body = String(repeating: "a", count: 100_000) },
    Wrong(.badDeviceToken) { $0.path = "/3/device/" + String(repeating: "ab", count: 32) },
  ]

  @Test("one wrong request for each reason of a header, path or body") func reasons() async throws {
    let peer = try await StandInCurl()
    for wrong in Self.wrong {
      let reply = try await peer.push(
        wrong.path, method: wrong.method, headers: wrong.headers, authorization: wrong.authorization, body: wrong.body)
      #expect(reply.status == wrong.reason.status, "\(wrong.reason.word)")
      #expect(reply.body == #"{"reason":"\#(wrong.reason.word)"}"#)
      #expect(reply.headers["content-type"] == "application/json")
      #expect(reply.headers["apns-id"]?.count == 36)
      #expect(reply.headers["apns-unique-id"] == nil)
    }
    let stats = try await peer.control("GET", "/stats")
    #expect(stats.json?["requests"]?.int == Self.wrong.count)
    #expect(stats.json?["taken"]?.int == 0)
    await peer.standIn.stop()
  }

  @Test("reasons of keys and of provider tokens over time") func keys() async throws {
    let (production, second) = (try P256SigningKey.generate(), try P256SigningKey.generate())
    let peer = try await StandInCurl { configuration in
      configuration.furtherKeys = [
        StandInCurl.key("KEYPRODUCT", production, team: configuration.teamID, scope: .environment(.production)),
        StandInCurl.key("KEYSECOND2", second, team: configuration.teamID),
      ]
    }
    let line = peer.standIn.readyLine
    let old = try StandInCurl.bearer(line, age: 3700)
    #expect(try await peer.push(authorization: old).reason == "ExpiredProviderToken")
    #expect(try await peer.push().status == 200)
    let third = try StandInCurl.bearer(line)
    #expect(try await peer.push(authorization: third).reason == "TooManyProviderTokenUpdates")
    let foreign = try StandInCurl.bearer(line, kid: "KEYPRODUCT", by: production)
    #expect(try await peer.push(authorization: foreign).reason == "BadEnvironmentKeyInToken")
    let other = try StandInCurl.bearer(line, kid: "KEYSECOND2", by: second)
    let both = try await StandInCurl.curl(
      peer.arguments(authorization: peer.bearer) + ["--next"] + peer.arguments(authorization: other))
    #expect(StandInCurl.replies(both.output).map(\.status) == [200, 403])
    #expect(StandInCurl.replies(both.output).last?.reason == "UnrelatedKeyIdInToken")
    await peer.standIn.stop()
  }

  @Test("reasons of a device: the other environment, another app, uninstalled, run out") func devices() async throws {
    let peer = try await StandInCurl()
    #expect(try await peer.push(production: true).reason == "BadDeviceToken")
    let other = try await peer.control("POST", "/devices", #"{"topic":"com.example.other"}"#)
    let token = try #require(other.json?["token"]?.string)
    #expect(try await peer.push("/3/device/\(token)").reason == "DeviceTokenNotForTopic")
    for (state, reason) in [("unregistered", "Unregistered"), ("expired", "ExpiredToken")] {
      let change = #"{"state":"\#(state)","unregisteredAt":1799568000000}"#
      #expect(try await peer.control("PATCH", "/devices/\(peer.device.id)", change).status == 200)
      let gone = try await peer.push()
      #expect(gone.status == 410)
      #expect(gone.body == #"{"reason":"\#(reason)","timestamp":1799568000000}"#)
    }
    await peer.standIn.stop()
  }

  @Test("OC-05 without ALPN h2 there is no connection; nor without the authority") func handshake() async throws {
    let peer = try await StandInCurl()
    let good = peer.arguments(authorization: peer.bearer)
    for change in [["--http1.1"], ["--no-alpn"], ["--tls-max", "1.1"]] {
      let result = try await StandInCurl.curl(good.filter { $0 != "--http2" } + change)
      // 35: the handshake failed; 52: it did not, and the connection was closed without a byte.
      #expect([35, 52].contains(result.code), "\(change) \(result.errors)")
      #expect(result.output.isEmpty)
    }
    let distrusting = good.filter { $0 != "--cacert" && $0 != peer.standIn.readyLine.caFile }
    #expect(try await StandInCurl.curl(distrusting).code == 60)
    #expect(try await peer.control("GET", "/stats").json?["requests"]?.int == 0)
    await peer.standIn.stop()
  }

  @Test("fifty pushes at once on one connection, from 1 stream to 1000") func parallel() async throws {
    let peer = try await StandInCurl()
    var arguments = ["--parallel", "--parallel-max", "50"]
    for index in 0..<50 {
      arguments += (index > 0 ? ["--next"] : []) + peer.arguments(authorization: peer.bearer)
    }
    let result = try await StandInCurl.curl(arguments)
    #expect(result.code == 0, "\(result.errors)")
    #expect(StandInCurl.replies(result.output).map(\.status) == Array(repeating: 200, count: 50))
    #expect(try await peer.control("GET", "/stats").json?["taken"]?.int == 50)
    await peer.standIn.stop()
  }

  @Test("faults over the wire: a status, a GOAWAY, a cut, a reset") func faults() async throws {
    let peer = try await StandInCurl()
    let rules = #"""
      {"rules":[{"match":{"nth":1},"then":{"status":503,"reason":"ServiceUnavailable"}},
      {"match":{"nth":2},"then":{"drop":"afterTaken"}},{"match":{"nth":3},"then":{"drop":"beforeTaken"}},
      {"match":{"nth":4},"then":{"goaway":{"lastStream":"all"}}},
      {"match":{"nth":5},"then":{"reset":{"code":"INTERNAL_ERROR","after":"body"}}},
      {"match":{"nth":6},"then":{"status":429,"reason":"TooManyRequests","delayMs":20}},
      {"match":{"nth":8},"then":{"reset":{"code":"CANCEL","after":"headers"}}},
      {"match":{"nth":9},"then":{"slowRead":{"bytesPerSecond":1000}}}]}
      """#
    #expect(try await peer.control("PUT", "/faults", rules).status == 200)
    let push = peer.arguments(authorization: peer.bearer)
    #expect(try await peer.push().reason == "ServiceUnavailable")
    for code in [[52, 56, 55, 16, 92], [52, 56, 55, 16, 92]] {
      let result = try await StandInCurl.curl(push)
      #expect(code.contains(result.code), "\(result.code) \(result.errors)")
      #expect(StandInCurl.replies(result.output).isEmpty)
    }
    #expect(try await peer.push().status == 200)
    let reset = try await StandInCurl.curl(push)
    #expect(reset.code == 92, "\(reset.errors)")
    #expect(try await peer.push().status == 429)
    #expect(try await peer.push().status == 200)
    #expect(try await StandInCurl.curl(push).code == 92)
    #expect(try await peer.push().status == 200, "slowly")
    let stats = try await peer.control("GET", "/stats").json
    #expect(stats?["taken"]?.int == 4)
    #expect(stats?["goaways"]?.int == 1)
    #expect(stats?["resets"]?.int == 2)
    #expect(stats?["drops"]?.int == 2)
    let fired = try await peer.control("GET", "/faults").json?["rules"]?.elements.compactMap { $0["fired"]?.int }
    #expect(fired == [1, 1, 1, 1, 1, 1, 1, 1])
    await peer.standIn.stop()
  }

  @Test("the control port refuses a foreign Host") func foreignHost() async throws {
    let peer = try await StandInCurl()
    let refused = try await peer.control("GET", "/stats", nil, ["-H", "Host: rebound.example"])
    #expect((400...499).contains(refused.status))
    #expect(refused.json?["taken"] == nil)
    #expect(try await peer.control("GET", "/stats", nil, ["-H", "Host: localhost"]).status == 200)
    await peer.standIn.stop()
  }
}
