import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// Bad input: a clear error that names the place and the remedy, exit code 2, nothing sent.
@Suite struct CommandLineInputTests {
  private static let token = String(repeating: "ab", count: 32)

  @Test func refusesBeforeTheFirstByte() async throws {
    try await withCommandStage { stage in
      for (arguments, expected) in try Self.cases(stage) {
        let result = try await stage.pabal(arguments)
        #expect(result.code == 2, "\(arguments.suffix(4)): \(result.output) \(result.errors)")
        #expect(result.output.isEmpty, "\(arguments.suffix(4))")
        for fragment in expected {
          #expect(result.errors.contains(fragment), "\(fragment) is not in: \(result.errors)")
        }
        #expect(!result.errors.contains(Self.token))
        #expect(!result.errors.contains("MHcCAQEE"))
      }
      #expect(try await stage.requests().isEmpty)
    }
  }

  private static func cases(_ stage: CommandStage) throws -> [([String], [String])] {
    try filesOfCases(stage)
    let file = { (name: String) in stage.folder.file(name) }
    let target = try stage.target()
    let send = ["send"] + target
    let one = ["--device", token, "-b", "x"]
    let keyless = ["send"] + target.dropFirst(2)
    let placeless = ["send"] + target.prefix(8)
    let named = { (name: String) in ["send", "--p8", file(name)] + target.dropFirst(4) + one }
    return [
      // The key.
      (keyless + one, ["--p8 is missing"]),
      (keyless + one + ["--p8", file("absent.p8")], ["absent.p8", "no such file"]),
      (keyless + one + ["--p8", stage.folder.path], ["is a directory"]),
      (keyless + one + ["--p8", file("rsa.p8")], ["rsa.p8", "Wrong key type for ES256", "P-256"]),
      (keyless + one + ["--p8", file("text.p8")], ["not PEM", "-----BEGIN PRIVATE KEY-----"]),
      (named("key.p8"), ["--key-id is missing", "AuthKey_<ID>.p8"]),
      (["send"] + target.prefix(4) + ["--team", "SHORT"] + target.dropFirst(6) + one, ["team id", "10"]),
      // The place.
      (placeless + one, ["--environment is missing", "sandbox", "--endpoint URL"]),
      (placeless + one + ["--environment", "sandbx"], ["sandbox, production"]),
      (placeless + one + ["--endpoint", "http://127.0.0.1:1"], ["must start with https://"]),
      (placeless + one + ["--endpoint", "https://a/b"], ["without a path"]),
      (placeless + one + ["--endpoint", "https://a", "--ca", file("empty.txt")], ["empty.txt", "BEGIN CERTIFICATE"]),
      (send + one + ["--environment", "sandbox"], ["not both"]),
      (send + one + ["--connections", "65"], ["1 to 64"]),
      (send + one + ["--timeout", "5"], ["500ms, 30s, 5m or 1h"]),
      (send + one + ["--proxy", "socks5://a:1"], ["--proxy", "http://host:port"]),
      (send + one + ["--rate", "0"], ["--rate must be a whole number"]),
      (send + one + ["--resume", stage.folder.path], ["journal", "directory"]),
      (send + one + ["--resume", file("absent/run.journal")], ["run.journal", "Name a file in a folder"]),
      (send + one + ["--resume", file("text.p8")], ["no journal of pabal send", "Name a new file"]),
      (send + one + ["--json="], ["--json=FIELDS"]),
      (send + one + ["--user", "u"], ["goes with --device"]),
    ] + devices(send, one, file, stage.folder.path) + contents(send, one, file, stage.folder.path) + words(send + one)
  }

  private static func devices(
    _ send: [String], _ one: [String], _ file: (String) -> String, _ folder: String
  ) -> [([String], [String])] {
    [
      (send + ["-b", "x"], ["--device TOKEN", "--devices-file FILE"]),
      (send + ["--devices-file", file("empty.txt"), "-b", "x"], ["holds no tokens", "Nothing was sent"]),
      (send + ["--devices-file", folder, "-b", "x"], ["is a directory"]),
      (
        send + ["--devices-file", file("bad.txt"), "-b", "x"],
        [
          "12 lines", "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …", "Nothing was sent",
        ]
      ),
      (send + ["--devices-file", "-", "-b", "x"], ["standard input holds no tokens", "Nothing was sent"]),
      (send + ["--devices-file", "-", "--payload", "-"], ["Standard input cannot be"]),
      (send + ["--devices-file", "-", "-b", "x", "--unique"], ["sort -u"]),
      (send + ["--devices-file", "-", "-b", "x", "--resume", file("j")], ["--resume needs a list"]),
      (send + one + ["--unique", "--no-duplicate-check"], ["--unique has to look"]),
      (send + one + ["--format", "csv"], ["--format goes with --devices-file"]),
      (send + ["--devices-file", file("bad.txt"), "-b", "x", "--format", "cvs"], ["tokens, ndjson, csv"]),
      (send + ["--devices-file", file("bad.csv"), "-b", "x"], ["bad.csv", "no column device", "Call the column"]),
      (send + ["--devices-file", file("utf16.csv"), "-b", "x"], ["utf16.csv", "Save the file as UTF-8"]),
      (send + ["--devices-file", file("bad.ndjson"), "-b", "x"], ["2 lines", "1, 2", "unknown member 'devcie'"]),
      (send + ["--device", token, "aaaa", "-b", "x"], ["Device 2 of 2", "too short"]),
      (send + one + ["--devices-file", file("bad.txt")], ["not both"]),
    ]
  }

  private static func contents(
    _ send: [String], _ one: [String], _ file: (String) -> String, _ folder: String
  ) -> [([String], [String])] {
    [
      (send + ["--device", token], ["What to send is missing", "--payload FILE"]),
      (send + ["--device", token, "--payload", file("long.json")], ["long.json", "5000 bytes", "4096"]),
      (send + ["--device", token, "--payload", file("4097.json")], ["4097.json", "4097 bytes", "4096", "Shorten"]),
      (send + ["--device", token, "--payload", folder], ["is a directory"]),
      (send + ["--device", token, "--payload", file("broken.json")], ["broken.json", "line 2"]),
      (
        send + ["--devices-file", file("good.ndjson"), "--payload", file("brace.json")],
        ["brace.json", "line 1, column 25", "{{"]
      ),
      (send + one + ["--image", "cat.png"], ["--image", "https://"]),
      (
        send + ["--device", token, "--payload", file("latin1.json")],
        ["latin1.json", "not valid JSON", "pabal payload lint"]
      ),
      (send + ["--device", token, "--payload", file("bom.json")], ["byte order mark"]),
      (send + ["--device", token, "--payload", file("empty.txt")], ["empty"]),
      (send + ["--device", token, "--payload", file("silent.json"), "--priority", "10"], ["priority 10"]),
      (send + ["--device", token, "--payload", file("data.json")], ["--push-type"]),
      (send + one + ["--payload", file("silent.json")], ["--body or --payload, not both"]),
      (send + one + ["--push-type", "allert"], ["Did you mean alert?"]),
      (send + one + ["--priority", "7"], ["10, 5 or 1"]),
      (send + one + ["--badge", "-1"], ["--badge must be a whole number"]),
      (send + one + ["--expiration", "1800086400000"], ["milliseconds"]),
      (send + one + ["--expiration", "tomorrow"], ["+DURATION"]),
      (send + one + ["--collapse-id", String(repeating: "c", count: 65)], ["64 bytes"]),
      (send + one + ["--apns-id", "7"], ["UUID"]),
      (
        send + ["--device", token, token, "-b", "x", "--apns-id", "123e4567-e89b-42d3-a456-426614174000"],
        ["exactly one"]
      ),
    ]
  }

  private static func words(_ send: [String]) -> [([String], [String])] {
    [
      (["sned"], ["Did you mean `pabal send`?"]),
      (send + ["--sond", "x"], ["Did you mean --sound?"]),
      (send + ["--canary", "f"], ["--canary is not built yet"]),
      (send + ["--enviroment", "production"], ["Did you mean --environment?"]),
      (["open"], ["not built yet"]),
      (["sim", "tap"], ["not built yet"]),
      (["why", "u"], ["pabal up", "PABAL_SERVER"]),
      (["explain", "apns.Unregisterd"], ["Did you mean apns.Unregistered?"]),
    ]
  }

  private static func filesOfCases(_ stage: CommandStage) throws {
    let good = stage.tokens[0]
    let broken = (0..<12).map { _ in "deadbeefzz" }
    let files: [String: [UInt8]] = [
      "rsa.p8": Array(SamplePEM.rsa.utf8),
      "text.p8": Array("hello".utf8),
      "key.p8": Array(try P256SigningKey.generate().pkcs8PEM().utf8),
      "empty.txt": [],
      "bad.txt": Array(([good] + broken + [good]).joined(separator: "\n").utf8),
      "long.json": Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: 5000 - 20))"}}"#.utf8),
      "4097.json": Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: 4097 - 20))"}}"#.utf8),
      "brace.json": Array(#"{"aps":{"alert":"Hello, { name"}}"#.utf8),
      "good.ndjson": Array(#"{"device":"\#(good)"}"#.utf8),
      "bad.ndjson": Array("{\"devcie\":\"\(good)\"}\n{}\n".utf8),
      "utf16.csv": [0xFF, 0xFE, 0x64, 0x00],
      "bad.csv": Array("token,name\n\(good),x\n".utf8),
      "broken.json": Array("{\n  \"aps\": {,}\n}".utf8),
      "latin1.json": Array(#"{"aps":{"alert":""#.utf8) + [0xE9] + Array(#""}}"#.utf8),
      "bom.json": [0xEF, 0xBB, 0xBF] + Array("{}".utf8),
      "silent.json": Array(#"{"aps":{"content-available":1}}"#.utf8),
      "data.json": Array(#"{"k":"v"}"#.utf8),
    ]
    for (name, bytes) in files { try TestFiles.write(bytes, to: stage.folder.file(name)) }
  }

  @Test("OC-38 OC-39 tokens of any length, upper case and in brackets are one token", arguments: [64, 108, 160, 200])
  func acceptedTokens(digits: Int) async throws {
    let token = String(String(repeating: "abcd1234", count: 25).prefix(digits))
    let groups = stride(from: 0, to: digits, by: 8).map { start in
      String(token.dropFirst(start).prefix(8))
    }
    for spelling in [token, token.uppercased(), "<\(groups.joined(separator: " "))>", token + "\n"] {
      #expect(try await Self.dryRun(spelling).output.contains("\"device\":\"\(token)\""), "\(spelling)")
    }
  }

  @Test(
    "OC-38 OC-41 OC-42 what is no token is refused by name",
    arguments: [
      String(repeating: "a", count: 63), "", String(repeating: "a", count: 63) + "g",
      String(repeating: "a", count: 4096),
      "{length=32,bytes=0x0011223344556677...8899aabbccddeeff}", "(null)", "undefined", "deadbeefzz",
      String(repeating: " ", count: 64),
    ])
  func refusedTokens(text: String) async throws {
    let result = try await Self.dryRun(text)
    #expect(result.code == 2)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("Device 1 of 1"))
  }

  @Test("OC-86 swapped ids are seen in the file's name") func swappedIDs() async throws {
    let folder = try TemporaryFolder()
    let key = folder.file("AuthKey_KEY1234567.p8")
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: key)
    let result = try await ChildProcess.run(
      try TestFiles.pabal(),
      ["jwt", "make", "--p8", key, "--key-id", "TEAM123456", "--team", "KEY1234567"],
      environment: CommandStage.environment(folder))
    #expect(result.code == 2)
    #expect(result.errors.contains("swapped"))
  }

  private static func dryRun(_ token: String) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    let key = folder.file("AuthKey_KEY1234567.p8")
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: key)
    return try await ChildProcess.run(
      try TestFiles.pabal(),
      [
        "send", "--p8", key, "--team", "TEAM123456", "--topic", "com.example.app", "--environment", "sandbox", "-b",
        "x",
        "--dry-run", "--json", "--device=" + token,
      ], environment: CommandStage.environment(folder))
  }
}
