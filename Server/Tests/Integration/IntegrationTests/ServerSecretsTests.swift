#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Observability
import PabalPrimitives
import PabalServer
import TestSupport
import Testing

/// Plants secrets through the API and looks for them wherever a running server leaves words.
@Suite struct ServerSecretsTests {
  @Test("OC-84 no token, text or key in database, log, journal, metrics or error answers")
  func nothingLeaks() async throws {
    try await withTemporaryFolder { folder in
      let lines = Locked<[String]>([])
      let log = Log(minimumLevel: .debug) { event in
        lines.withLock { $0.append(String(decoding: event.json, as: UTF8.self)) }
      }
      let answers = Locked<[UInt8]>([])
      let token = Hex.encode(Randomness.seeded(84).fill(32))
      let title = "canary-title-새로운재능요청"
      let reply = "canary-reply-네좋아요감사"
      let keys = Locked<[String]>([])
      try await withServer(UpConfiguration(folder: .kept(folder), port: 0, log: log)) { stage in
        keys.withLock { $0 = [stage.line.testKey, stage.line.publishableKey] }
        _ = try await stage.registerByGuide("u", token: token)
        let sent = try await stage.api(
          "POST", "/api/push/talent-request",
          ["receiverId": "u", "requesterName": .string(title), "talentTitle": .string(title), "requestId": "r"])
        #expect(try sent.json()["sent"]?.int == 1, "\(sent.text)")
        let identity = try #require(try await stage.inbox().last?["payload"]?["pabal"])
        let event: JSONValue = [
          "kind": "action", "deliveryId": JSONValue(identity["d"]?.string),
          "messageId": JSONValue(identity["m"]?.string),
          "at": "2027-01-15T08:00:00.000Z", "action": "REPLY_MESSAGE", "text": .string(reply), "eventId": "e1",
        ]
        let reported = try await stage.api("POST", "/v1/events", ["events": [event]])
        #expect(try reported.json()["accepted"]?.int == 1, "\(reported.text)")
        // Refusals: a wrong key, a broken token, an unknown field.
        for (path, body) in [
          (
            "/api/push/register", ["userId": "u", "deviceToken": .string(token + "zz"), "platform": "ios"] as JSONValue
          ),
          ("/v1/messages", ["to": ["userIds": ["u"]], "contents": ["title": .string(title)]]),
        ] {
          let refused = try await stage.api("POST", path, body)
          #expect(refused.status == 400, "\(refused.text)")
          answers.withLock { $0 += refused.body }
        }
        let metrics = try await ServerCaller(stage.line.metrics)("GET", "/metrics")
        #expect(metrics.text.contains("pabal_deliveries_total"))
        answers.withLock { $0 += metrics.body }
        answers.withLock { $0 += CanaryFiles.database(folder) }
        let masterKey = try TestFiles.read(folder + "/master.key").prefix(64)
        let keyFile = try JSONSlice(parsing: stage.line.simulator.encoded)["apns"]?["keyFile"]?.string
        let signingKey = String(decoding: try TestFiles.read(try #require(keyFile)), as: UTF8.self)
          .split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
        #expect(signingKey.count > 1)
        let secrets = CanaryFiles.secrets(
          texts: [title, reply] + keys.withLock { $0 } + signingKey,
          bytes: [Hex.decode(token) ?? [], Hex.decode(masterKey) ?? []])
        let written = answers.withLock { $0 } + lines.withLock { $0.joined(separator: "\n").utf8 }
        #expect(CanaryFiles.found(secrets, in: written) == [])
      }
      let lines1 = lines.withLock { $0 }
      #expect(lines1.contains { $0.contains("delivery.ended") }, "the log was on")
      // A provider token or any other JWT begins so.
      #expect(!lines1.contains { $0.contains("eyJ") })
    }
  }
}

/// Byte strings in every spelling that a careless writer would use.
enum CanaryFiles {
  static func database(_ folder: String) -> [UInt8] {
    ["pabal.sqlite", "pabal.sqlite-wal"].flatMap { name -> [UInt8] in
      do { return try TestFiles.read(folder + "/" + name) } catch { return [] }
    }
  }

  static func secrets(texts: [String], bytes: [[UInt8]]) -> [[UInt8]] {
    texts.map { Array($0.utf8) } + bytes
  }

  static func spellings(_ secret: [UInt8]) -> [[UInt8]] {
    let text = String(decoding: secret, as: UTF8.self)
    let utf16 = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let base64 = (0..<3).map { shift -> [UInt8] in
      let shifted = [UInt8](repeating: 0, count: shift) + secret
      return Array(Base64.encode(shifted).utf8.dropFirst(4).prefix { $0 != UInt8(ascii: "=") }.dropLast(3))
    }
    let hex = Hex.encode(secret)
    return [secret, Array(hex.utf8), Array(hex.uppercased().utf8), utf16] + base64
  }

  /// Indices of the secrets that stand in `bytes`.
  static func found(_ secrets: [[UInt8]], in bytes: [UInt8]) -> [Int] {
    secrets.indices.filter { index in
      spellings(secrets[index]).contains { contains(bytes, $0) }
    }
  }

  private static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard let first = wanted.first, wanted.count >= 6, bytes.count >= wanted.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      let last = bytes.count - wanted.count
      var start = 0
      while start <= last, let hit = memchr(base + start, Int32(first), last - start + 1) {
        if memcmp(hit, wanted, wanted.count) == 0 { return true }
        start = UnsafeRawPointer(hit) - base + 1
      }
      return false
    }
  }
}
