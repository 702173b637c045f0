import PabalPrimitives
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct CommandLineSendTests {
  @Test func onePushReachesTheInbox() async throws {
    try await withCommandStage { stage in
      let token = stage.tokens[0]
      let result = try await stage.send("--device", token, "-t", "안녕", "-b", "첫 푸시", "--json")
      #expect(result.code == 0, "\(result.errors)")
      let objects = try result.objects()
      #expect(objects.count == 2)
      let outcome = objects[0]
      #expect(
        outcome.members.map(\.name)
          == ["line", "device", "state", "status", "reason", "apnsId", "apnsUniqueId", "attempts", "ms"])
      #expect(outcome["line"]?.int == 1)
      #expect(outcome["device"]?.string == token)
      #expect(outcome["state"]?.string == "accepted")
      #expect(outcome["status"]?.int == 200)
      #expect(outcome["reason"]?.isNull == true)
      #expect(outcome["attempts"]?.int == 1)
      let item = try #require(try await stage.inbox().first)
      #expect(item["apnsId"]?.string == outcome["apnsId"]?.string)
      #expect(item["apnsUniqueId"]?.string == outcome["apnsUniqueId"]?.string)
      let sent = try #require(item["payloadBase64"]?.string.flatMap { Base64.decode($0) })
      #expect(String(decoding: sent, as: UTF8.self) == #"{"aps":{"alert":{"title":"안녕","body":"첫 푸시"}}}"#)
      let summary = objects[1]
      #expect(
        summary.members.map(\.name) == [
          "object", "total", "states", "reasons", "duplicates", "connections", "seconds", "perSecond",
        ])
      #expect(summary["states"]?.members.map(\.name) == ["accepted", "rejected", "expired", "unknown", "canceled"])
      #expect(summary["states"]?["accepted"]?.int == 1)
      #expect(summary["connections"]?.int == 1)
    }
  }

  @Test func headersAndPayloadGoOutAsGiven() async throws {
    try await withCommandStage { stage in
      let payload = "{ \"b\" : 1.0 ,\"aps\":{\"alert\":\"\\u00e9 \\/\"} }"
      try TestFiles.write(payload + "\n", to: stage.folder.file("push.json"))
      let result = try await stage.send(
        "--device", stage.tokens[0], "--payload", stage.folder.file("push.json"), "--priority", "5", "--expiration",
        "0",
        "--collapse-id", "c1", "--apns-id", "123E4567-E89B-42D3-A456-426614174000", "--json=apnsId,state")
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.lines.first == #"{"apnsId":"123e4567-e89b-42d3-a456-426614174000","state":"accepted"}"#)
      let item = try #require(try await stage.inbox().first)
      #expect(item["payloadBase64"]?.string == Base64.encode(Array(payload.utf8)))
      #expect(item["priority"]?.int == 5)
      #expect(item["expiration"]?.int == 0)
      #expect(item["collapseId"]?.string == "c1")
      let piped = try await stage.send(
        "--device", stage.tokens[0], "--payload", "-", "--json", input: Array(#"{"aps":{"badge":0}}"#.utf8))
      #expect(piped.code == 0, "\(piped.errors)")
    }
  }

  @Test func aFileOfTokensGivesOneObjectForEachLine() async throws {
    try await withCommandStage(devices: 100) { stage in
      let unknown = String(repeating: "ab", count: 32)
      var lines = (0..<1200).map { $0 % 200 == 7 ? unknown : stage.tokens[$0 % stage.tokens.count] }
      lines.insert("# a comment", at: 0)
      lines.insert("", at: 1)
      lines[2] = "<\(lines[2].uppercased())>\r"
      try TestFiles.write(lines.joined(separator: "\n"), to: stage.folder.file("tokens.txt"))
      let result = try await stage.send("--devices-file", stage.folder.file("tokens.txt"), "-b", "x", "--json")
      #expect(result.code == 6, "\(result.errors)")
      var objects = try result.objects()
      let summary = objects.removeLast()
      #expect(Set(objects.compactMap { $0["line"]?.int }) == Set(3...1202))
      #expect(objects.count == 1200)
      let rejected = objects.filter { $0["state"]?.string == "rejected" }
      #expect(rejected.count == 6)
      #expect(rejected.allSatisfy { $0["device"]?.string == unknown && $0["reason"]?.string == "apns.BadDeviceToken" })
      #expect(summary["total"]?.int == 1200)
      #expect(summary["reasons"]?["apns.BadDeviceToken"]?.int == 6)
    }
  }

  @Test func aDeadTokenCarriesTheTimeOfItsDeath() async throws {
    try await withCommandStage { stage in
      let id = try #require(stage.ready["devices"]?.elements[0]["id"]?.string)
      let patch = try await stage.control(
        "PATCH", "/v1/simulator/devices/\(id)",
        ["state": "unregistered", "unregisteredAt": 1_700_000_000_000])
      #expect(patch.status == 200, "\(patch.text)")
      let result = try await stage.send("--device", stage.tokens[0], "-b", "x", "--json")
      #expect(result.code == 6)
      let outcome = try result.objects()[0]
      #expect(outcome["status"]?.int == 410)
      #expect(outcome["reason"]?.string == "apns.Unregistered")
      #expect(outcome["timestamp"]?.int == 1_700_000_000_000)
    }
  }

  @Test("OC-01 a loop in the shell shares one provider token") func processesShareAToken() async throws {
    try await withCommandStage { stage in
      for _ in 0..<6 {
        let result = try await stage.send("--device", stage.tokens[0], "-b", "x")
        #expect(result.code == 0, "\(result.output)\(result.errors)")
      }
      #expect(try await stage.statistic("requests") == 6)
      #expect(try await stage.statistic("providerTokens") == 1)
    }
  }

  @Test func dryRunSendsNothing() async throws {
    try await withCommandStage { stage in
      let result = try await stage.send("--device", stage.tokens[0], "-t", "t", "-b", "b", "--dry-run", "--json")
      #expect(result.code == 0)
      let object = try result.objects()[0]
      #expect(object["state"]?.string == "dry_run")
      #expect(object["bytes"]?.int == 42)
      #expect(object["payload"]?["aps"]?["alert"]?["title"]?.string == "t")
      #expect(object["headers"]?["apns-topic"]?.string == "com.example.demo")
      #expect(object["headers"]?["apns-priority"]?.string == "10")
      #expect(try await stage.requests().isEmpty)
    }
  }

  @Test func nobodyThereIsExitCode7() async throws {
    try await withCommandStage { stage in
      var target = try stage.target()
      target[9] = "https://127.0.0.1:1"
      let result = try await stage.pabal(
        ["send"] + target + ["--device", stage.tokens[0], "-b", "x", "--retry", "0", "--json"])
      #expect(result.code == 7, "\(result.output)")
      let outcome = try result.objects()[0]
      #expect(outcome["state"]?.string == "expired")
      #expect(outcome["reason"]?.string == "provider_unreachable")
      #expect(outcome["attempts"]?.int == 0)
      #expect(result.errors.contains("127.0.0.1:1"))
    }
  }

  @Test func aForeignAuthorityIsRefused() async throws {
    try await withCommandStage { stage in
      try await withCommandStage { other in
        var target = try stage.target()
        target[11] = try other.apns("caFile")
        let result = try await stage.pabal(
          ["send"] + target + ["--device", stage.tokens[0], "-b", "x", "--retry", "0", "--json"])
        #expect(result.code == 7, "\(result.output)")
        #expect(try await stage.requests().isEmpty)
      }
    }
  }

  @Test("Ctrl-C twice: each line has its object, what was written is unknown, the rest canceled")
  func interrupt() async throws {
    try await withCommandStage { stage in
      // APNs allows one stream until it has seen a good token, so the first push is answered.
      try await stage.setFaults([
        ["match": ["nth": 1], "then": ["delayMs": 1]], ["then": ["silenceMs": 600_000]],
      ])
      let tokens = (0..<3000).map { _ in stage.tokens[0] }
      try TestFiles.write(tokens.joined(separator: "\n"), to: stage.folder.file("tokens.txt"))
      let process = try stage.start(
        ["send"] + stage.target() + [
          "--devices-file", stage.folder.file("tokens.txt"), "-b", "x", "--concurrency", "10", "--request-timeout",
          "1h", "--no-duplicate-check", "--json",
        ])
      #expect(await process.line(0)?.contains("\"state\":\"accepted\"") == true)
      process.signal(SIGINT)
      #expect(await process.line(0, of: .errors)?.hasPrefix("Stopping:") == true)
      process.signal(SIGINT)
      let result = await process.result()
      #expect(result.code == 130)
      var objects = try result.objects()
      let summary = objects.removeLast()
      #expect(Set(objects.compactMap { $0["line"]?.int }) == Set(1...3000))
      #expect(objects.count == 3000)
      let unknown = try #require(summary["states"]?["unknown"]?.int)
      #expect(unknown <= 10)
      #expect(try await stage.statistic("requests") <= 1 + unknown)
      #expect(summary["states"]?["accepted"]?.int == 1)
      #expect(summary["states"]?["canceled"]?.int == 2999 - unknown)
      #expect(summary["reasons"]?["interrupted"]?.int == 2999)
    }
  }

  @Test func aPipeGetsTabsAndATalkOnStandardError() async throws {
    try await withCommandStage { stage in
      let result = try await stage.send("--device", stage.tokens[0], String(repeating: "ab", count: 32), "-b", "x")
      #expect(result.code == 6)
      let rows = result.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
      #expect(rows.count == 2)
      #expect(rows.allSatisfy { $0.count == 6 })
      #expect(rows.contains { $0[1] == "abab…abab" && $0[2] == "rejected" && $0[4] == "apns.BadDeviceToken" })
      #expect(result.errors.contains("pabal explain apns.BadDeviceToken"))
      #expect(!result.output.contains("\u{1B}"))
    }
  }
}
