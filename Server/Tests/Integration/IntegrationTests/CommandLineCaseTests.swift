import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// Cases from the field, as they show on the command line.
@Suite struct CommandLineCaseTests {
  /// The registry's half, quarantine and pruning, belongs to the server.
  @Test("OC-21 sandbox tokens at production: suspect, not dead, and all deliverable once the route is right")
  func misroutedTokens() async throws {
    try await withCommandStage(devices: 20) { stage in
      let list = stage.folder.file("tokens.txt")
      try TestFiles.write(stage.tokens.joined(separator: "\n"), to: list)
      var production = try stage.target()
      production[9] = try stage.apns("production")
      let misrouted = try await stage.pabal(["send"] + production + ["--devices-file", list, "-b", "x", "--json"])
      #expect(misrouted.code == 6)
      let outcomes = try misrouted.objects().dropLast()
      #expect(outcomes.count == 20)
      #expect(outcomes.allSatisfy { $0["state"]?.string == "rejected" })
      #expect(outcomes.allSatisfy { $0["reason"]?.string == "apns.BadDeviceToken" })
      // Nobody is told that a token died, and the remedy is the route.
      #expect(outcomes.allSatisfy { $0["tokenDeadSince"]?.string == nil })
      let explained = try await stage.pabal(["explain", "apns.BadDeviceToken"])
      #expect(explained.output.contains("environment"), "\(explained.output)")
      let routed = try await stage.send("--devices-file", list, "-b", "x", "--json")
      #expect(routed.code == 0)
      #expect(try routed.objects().last?["states"]?["accepted"]?.int == 20)
    }
  }

  @Test("OC-22 a passing 500 is repeated where it came from; the other environment is never asked")
  func noFallback() async throws {
    try await withCommandStage(devices: 0) { stage in
      let made = try await stage.control("POST", "/v1/simulator/devices", ["environment": "production"])
      let token = try #require(try made.json()["token"]?.string)
      try await stage.setFaults([
        ["match": ["nth": 1], "then": ["status": 500, "reason": "InternalServerError"]]
      ])
      var production = try stage.target()
      production[9] = try stage.apns("production")
      let result = try await stage.pabal(["send"] + production + ["--device", token, "-b", "x", "--json"])
      #expect(result.code == 0, "\(result.errors)")
      let outcome = try #require(try result.objects().first)
      #expect(outcome["state"]?.string == "accepted" && outcome["attempts"]?.int == 2)
      #expect(try await stage.requests().map { $0["status"]?.int } == [500, 200])
      // The sandbox would have said 400.
      let elsewhere = try await stage.send("--device", token, "-b", "x", "--json")
      #expect(try elsewhere.objects().first?["reason"]?.string == "apns.BadDeviceToken")
    }
  }

  @Test("OC-30 an alert and a voip push go to the token and topic of their kind") func kindsOfTokens() async throws {
    try await withCommandStage { stage in
      let (alert, voip) = (String(repeating: "A", count: 64), String(repeating: "B", count: 64))
      let topic = try stage.apns("topic")
      var ids: [String] = []
      for token in [alert, voip] {
        let made = try await stage.control("POST", "/v1/simulator/devices", ["token": .string(token.lowercased())])
        try #require(made.status == 201, "\(made.text)")
        ids += [try #require(try made.json()["id"]?.string)]
      }
      try TestFiles.write(#"{"call":"x"}"#, to: stage.folder.file("call.json"))
      let call = ["--device", voip, "--payload", stage.folder.file("call.json"), "--push-type", "voip", "--json"]
      let visible = ["--device", alert, "-b", "x", "--json"]
      for content in [visible, call] {
        let result = try await stage.pabal(["send"] + stage.target() + content)
        #expect(result.code == 0, "\(result.output)\(result.errors)")
      }
      let items = try await stage.inbox()
      let topics = items.compactMap { item in item["device"]?.string.map { ($0, item["topic"]?.string) } }
      #expect(Dictionary(uniqueKeysWithValues: topics) == [ids[0]: topic, ids[1]: topic + ".voip"])
      // A dead voip token says nothing of the other.
      let patch = try await stage.control(
        "PATCH", "/v1/simulator/devices/\(ids[1])", ["state": "unregistered"])
      try #require(patch.status == 200, "\(patch.text)")
      let dead = try await stage.pabal(["send"] + stage.target() + call)
      #expect(dead.code == 6)
      #expect(try dead.objects()[0]["device"]?.string == voip.lowercased())
      #expect(try dead.objects()[0]["status"]?.int == 410)
      #expect(try await stage.pabal(["send"] + stage.target() + visible).code == 0)
    }
  }

  @Test("OC-84 nothing secret is on standard error or in the table") func secrets() async throws {
    try await withCommandStage { stage in
      let unknown = String(repeating: "cd", count: 32)
      let words = "top-secret-words"
      let pem = try P256SigningKey.generate().pkcs8PEM()
      let broken = stage.folder.file("AuthKey_ABCDEFGHIJ.p8")
      try TestFiles.write(pem.replacing("-----END PRIVATE KEY-----", with: "-----END"), to: broken)
      let key = String(decoding: try TestFiles.read(try stage.apns("keyFile")), as: UTF8.self)
      var foreign = try stage.target()
      foreign[11] = "/etc/ssl/certs/ca-certificates.crt"
      let target = try stage.target()
      let results = [
        try await stage.pabal(["send"] + target + ["--device", unknown, stage.tokens[0], "-b", words]),
        try await stage.pabal(["send"] + foreign + ["--device", unknown, "-b", words, "--retry", "0"]),
        try await stage.pabal(["send", "--p8", broken] + target.dropFirst(2) + ["--device", unknown, "-b", words]),
        try await stage.pabal(["send"] + target + ["--device", unknown, unknown + "z", "-b", words]),
      ]
      #expect(results.map(\.code) == [6, 7, 2, 2])
      let secrets = [unknown, stage.tokens[0], words] + (pem + key).split(separator: "\n").map(String.init)
      for result in results {
        for secret in secrets where !secret.hasPrefix("-----") {
          #expect(!result.output.contains(secret) && !result.errors.contains(secret))
        }
        #expect(!result.errors.contains("bearer"))
      }
      #expect(results[0].output.contains("cdcd…cdcd"))
    }
  }

  /// Flags take the place of a configuration file; a scenario file has its own checks.
  @Test("OC-85 the environment is never guessed, and a misspelled one never ignored") func environment() async throws {
    let folder = try TemporaryFolder()
    let key = folder.file("AuthKey_KEY1234567.p8")
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: key)
    let send = [
      "send", "--p8", key, "--team", "TEAM123456", "--topic", "com.example.app", "--device",
      String(repeating: "ab", count: 32), "-b", "x", "--dry-run",
    ]
    for (more, expected) in [
      ([], "--environment is missing"), (["--enviroment", "production"], "Did you mean --environment?"),
      (["--environment", "prod"], "sandbox, production"),
    ] {
      let result = try await ChildProcess.run(
        try TestFiles.pabal(), send + more, environment: CommandStage.environment(folder))
      #expect(result.code == 2)
      #expect(result.errors.contains(expected), "\(result.errors)")
    }
  }

  @Test("OC-86 a refused key stops the run instead of failing line by line") func refusedKey() async throws {
    try await withCommandStage { stage in
      let folder = stage.folder
      try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: folder.file("AuthKey_KEY1234567.p8"))
      try TestFiles.write(
        (0..<2000).map { _ in stage.tokens[0] }.joined(separator: "\n"), to: folder.file("list.txt"))
      let target = try stage.target()
      let result = try await stage.pabal(
        ["send", "--p8", folder.file("AuthKey_KEY1234567.p8"), "--team", "TEAM123456"] + target.dropFirst(6) + [
          "--devices-file", folder.file("list.txt"), "-b", "x", "--no-duplicate-check", "--json",
        ])
      #expect(result.code == 6, "\(result.errors)")
      var objects = try result.objects()
      let summary = objects.removeLast()
      #expect(objects.count == 2000)
      #expect(summary["reasons"]?["apns.InvalidProviderToken"]?.int == 2000)
      // One stream is open until a token has been accepted, so one push meets the refusal.
      #expect(try await stage.statistic("requests") <= 2)
      let explained = try await stage.pabal(["explain", "apns.InvalidProviderToken"])
      #expect(explained.output.contains("team"))
    }
  }

  @Test(
    "OC-90 the push type follows what the payload shows",
    arguments: [
      (#"{"aps":{"content-available":1,"category":"c"}}"#, "background", "5"),
      (#"{"aps":{"badge":0,"content-available":1}}"#, "alert", "10"),
      (#"{"aps":{"mutable-content":1,"alert":{"title":"t"}}}"#, "alert", "10"), (#"{"aps":{},"k":"v"}"#, nil, ""),
    ])
  func pushTypes(payload: String, type: String?, priority: String) async throws {
    let result = try await Self.dryRun(payload)
    guard let type else {
      #expect(result.code == 2)
      #expect(result.errors.contains("Give --push-type"))
      return
    }
    #expect(result.code == 0, "\(result.errors)")
    let headers = try #require(try result.objects()[0]["headers"])
    #expect(headers["apns-push-type"]?.string == type)
    #expect(headers["apns-priority"]?.string == priority)
  }

  @Test("OC-94 each outcome is its own push's, whatever its neighbour met") func neighbours() async throws {
    try await withCommandStage { stage in
      let (good, gone) = (stage.tokens[0], stage.tokens[1])
      let id = try #require(stage.ready["devices"]?.elements[1]["id"]?.string)
      let patch = try await stage.control("PATCH", "/v1/simulator/devices/\(id)", ["state": "unregistered"])
      try #require(patch.status == 200, "\(patch.text)")
      // 200 after 300 ms, beside refusals at once.
      try await stage.setFaults([["match": ["token": .string(good), "every": 50], "then": ["delayMs": 300]]])
      var generator = SeededGenerator(seed: 94)
      let tokens = (0..<1000).flatMap { _ in [good, gone] }.shuffled(using: &generator)
      try TestFiles.write(tokens.joined(separator: "\n"), to: stage.folder.file("list.txt"))
      let result = try await stage.send(
        "--devices-file", stage.folder.file("list.txt"), "-b", "x", "--no-duplicate-check", "--json")
      #expect(result.code == 6)
      let lines = try CommandLineListTests.byLine(try result.objects())
      #expect(lines.count == 2000)
      for (index, token) in tokens.enumerated() {
        let line = lines[index + 1]
        #expect(line?["device"]?.string == token)
        #expect(line?["state"]?.string == (token == good ? "accepted" : "rejected"))
        #expect(line?["reason"]?.string == (token == good ? nil : "apns.Unregistered"))
      }
    }
  }

  @Test("OC-95 an alert by keys alone is accepted as given, and so is one with both") func keysAlone() async throws {
    let keys = #"{"aps":{"alert":{"loc-key":"BODY","loc-args":["x"]}}}"#
    let alone = try await Self.dryRun(keys)
    #expect(alone.code == 0, "\(alone.errors)")
    #expect(try alone.objects()[0]["payload"].map { String(decoding: $0.bytes, as: UTF8.self) } == keys)
    let both = #"{"aps":{"alert":{"body":"b","loc-key":"BODY"}}}"#
    let doubled = try await Self.dryRun(both)
    #expect(doubled.code == 0)
    #expect(try doubled.objects()[0]["payload"].map { String(decoding: $0.bytes, as: UTF8.self) } == both)
    #expect(doubled.errors.contains("loc-key"))
  }

  private static func dryRun(_ payload: String) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    let key = folder.file("AuthKey_KEY1234567.p8")
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: key)
    return try await ChildProcess.run(
      try TestFiles.pabal(),
      [
        "send", "--p8", key, "--team", "TEAM123456", "--topic", "com.example.app", "--environment", "sandbox",
        "--device", String(repeating: "ab", count: 32), "--payload", "-", "--dry-run", "--json",
      ], environment: CommandStage.environment(folder), input: Array(payload.utf8))
  }
}
