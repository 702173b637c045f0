import ArgumentParsing
import Commands
import PabalPrimitives
import TestSupport
import Testing

/// `pabal payload`: what it says of payloads, and where.
@Suite struct PayloadCommandTests {
  private func pabal(
    _ verb: String, _ payload: String, _ more: [String] = [], environment: [String: String] = [:],
    terminal: Terminal = Terminal(isTerminal: false)
  ) async throws -> CapturedCommand {
    let folder = try TemporaryFolder()
    let path = folder.file("push.json")
    try TestFiles.write(payload, to: path)
    let result = try await CapturedCommand.run(
      ["payload", verb, path] + more, environment: environment, terminal: terminal)
    // The folder's name differs each time.
    let short = { (text: String) in text.split(separator: path, omittingEmptySubsequences: false).joined(separator: "F")
    }
    return CapturedCommand(code: result.code, output: short(result.output), errors: short(result.errors))
  }

  @Test(arguments: [
    // What is wrong, where, and what to do.
    (
      "{\n  \"aps\": {\"alert\": \"x\", \"badge\": \"3\"}\n}",
      "F:2:34: error: aps.badge: the badge must be a whole number from 0, without quotes\n"
    ),
    (
      "{\"aps\":{\"alert\":\"x\",}}",
      "F:1:21: error: JSON does not allow this character here; look for a missing or surplus comma, quote or colon "
        + "before it\n"
    ),
    ("", "F:1:1: error: the payload is empty; write one JSON object with the member aps\n"),
    ("[1]", "F:1:1: error: the payload must be one JSON object, found array; write {\"aps\":{…}}\n"),
    ("{\"aps\":[]}", "F:1:8: error: aps: it must be an object, found array\n"),
    ("{\"a\":1,\"a\":2}", "F:1:8: error: the same key twice in one object; keep one\n"),
    ("\u{FEFF}{}", "F:1:1: error: the text starts with a byte order mark; save the file as UTF-8 without one\n"),
    (
      "{\"aps\":{\"alert\":{\"body\":\"x\",\"titel\":\"y\"}}}",
      "F:1:37: warning: aps.alert.titel: iOS does not know this key of alert; did you mean title?\n"
    ),
    (
      "{\"aps\":{\"alert\":\"x\"},\"sound\":\"default\"}",
      "F:1:30: warning: sound: it stands beside aps, where iOS does not look; move it into aps\n"
    ),
    (
      "{\"aps\":{\"alert\":\"x\",\"mutable-content\":\"1\"}}",
      "F:1:39: warning: aps.mutable-content: it must be the number 1; iOS takes nothing else for yes\n"
    ),
    (
      "{\"aps\":{\"alert\":\"x\",\"a.b\":1}}",
      "F:1:27: warning: aps.a.b: APNs ignores this key; put your own beside aps\n"
    ),
  ])
  func lintNamesPlaceAndRemedy(payload: String, expected: String) async throws {
    let result = try await pabal("lint", payload)
    #expect(result.output == expected)
    #expect(result.code == (expected.contains("error") ? .usage : .done))
  }

  @Test func lintSaysNothingOfAGoodPayload() async throws {
    let result = try await pabal("lint", #"{"aps":{"alert":{"title":"안녕","body":"첫 푸시"},"badge":0}}"#)
    #expect(result.code == .done)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("0 errors, 0 warnings"))
  }

  @Test func lintJudgesByTheTypeThatIsGiven() async throws {
    let silent = #"{"aps":{"content-available":1}}"#
    #expect(try await pabal("lint", silent).code == .done)
    #expect(try await pabal("lint", silent, ["--push-type", "alert"]).code == .usage)
    let data = #"{"k":"v"}"#
    #expect(try await pabal("lint", data, ["--push-type", "voip"]).code == .done)
    #expect(try await pabal("lint", data, ["--push-type", "viop"]).errors.contains("Did you mean voip?"))
  }

  @Test func lintListsProblemsAsAnObject() async throws {
    let result = try await pabal("lint", "{\"aps\":{\"alert\":\"x\",\n\"badge\":-1}}", ["--json"])
    let object = try result.json()
    #expect(object["errors"]?.int == 1)
    let problem = try #require(object["problems"]?.elements.first)
    #expect(problem["line"]?.int == 2 && problem["column"]?.int == 9)
    #expect(problem["path"]?.string == "aps.badge")
    #expect(problem["code"]?.string == "payload_invalid")
  }

  @Test func sizeIsThatOfTheBytesSent() async throws {
    let payload = "{\"aps\": {\"alert\":\"\\uD55C\"},\"k\":[1, 2]}"
    let object = try await pabal("size", payload + "\n", ["--json"]).json()
    #expect(object["bytes"]?.int == payload.utf8.count)
    #expect(object["limit"]?.int == 4096)
    #expect(object["compactBytes"]?.int == "{\"aps\":{\"alert\":\"한\"},\"k\":[1,2]}".utf8.count)
    let members = try #require(object["members"]).elements.map {
      "\($0["path"]?.string ?? "")=\($0["bytes"]?.int ?? 0)"
    }
    #expect(members == ["aps=24", "aps.alert=16", "k=10"])
  }

  @Test func aPayloadOfOneByteTooManyIsTooLarge() async throws {
    let frame = #"{"aps":{"alert":""}}"#.utf8.count
    for (excess, code) in [(0, 0), (1, 2)] {
      let text = String(repeating: "a", count: 4096 - frame + excess)
      let payload = #"{"aps":{"alert":"\#(text)"}}"#
      #expect(try await pabal("size", payload).code.rawValue == Int32(code))
      let lint = try await pabal("lint", payload)
      #expect(lint.code.rawValue == Int32(code))
      #expect(lint.output.isEmpty == (code == 0))
    }
  }

  private static let request = """
    {"aps":{"alert":{"title":"새로운 재능 요청","body":"김시우님이 요청했습니다."},"badge":3,"category":"REQUEST"},"imageUrl":"u"}
    """

  @Test func previewDrawsTheCard() async throws {
    let terminal = Terminal(isTerminal: true, width: 32)
    let english = try await pabal("preview", Self.request, ["--app", "Talent"], terminal: terminal)
    #expect(
      english.output == """
        ┌──────────────────────────────┐
        │ Talent                   now │
        │ 새로운 재능 요청             │
        │ 김시우님이 요청했습니다.     │
        └──────────────────────────────┘
        The badge shows 3.
        It makes no sound.
        Its buttons are those of the app's category "REQUEST".

        """)
    let korean = try await pabal("preview", Self.request, environment: ["PABAL_LANG": "ko"], terminal: terminal)
    #expect(korean.output.contains("│ 앱                      지금 │\n"))
    #expect(korean.output.contains("배지에 3이(가) 표시됩니다.\n소리는 나지 않습니다.\n"))
  }

  @Test func previewCutsAsTheLockScreenDoes() async throws {
    let long = String(repeating: "하나 둘 셋 ", count: 60)
    let plain = Terminal(isTerminal: true, width: 30, hasUnicode: false)
    let result = try await pabal(
      "preview", #"{"aps":{"alert":{"title":"\#(long)","body":"\#(long)"},"sound":"s"}}"#, terminal: plain)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "+----------------------------+")
    let card = lines.prefix { !$0.hasPrefix("It ") }
    // Two edges, the app's line, the title, four lines of text.
    #expect(card.count == 8)
    #expect(card.allSatisfy { DisplayWidth.of($0) == 30 })
    #expect(card[card.count - 2].contains("…"))
  }

  @Test(arguments: [
    (#"{"aps":{"content-available":1}}"#, [], "Nothing is shown: the app is woken"),
    (#"{"aps":{"badge":0}}"#, [], "No banner: the push has no text.\nThe badge goes away."),
    (#"{"k":1}"#, ["--push-type", "voip"], "The app must show an incoming call at once."),
    (#"{"aps":{"alert":{"loc-key":"INVITE","loc-args":["Jenna"]}}}"#, [], "│ ‹INVITE›(Jenna) "),
    (#"{"aps":{"alert":"x","interruption-level":"passive"}}"#, [], "The screen stays dark"),
  ])
  func previewTellsWhatIsNotSeen(payload: String, flags: [String], expected: String) async throws {
    let result = try await pabal("preview", payload, flags)
    #expect(result.code == .done)
    #expect(result.output.contains(expected), "\(result.output)")
  }

  @Test func exportNamesTheAppAndTouchesNothingElse() async throws {
    let payload = #"{"aps":{"alert":"a/b","badge":1.0e0},"Simulator Target Bundle":"old","x":[1.50]}"#
    let result = try await pabal("export", payload, ["--simctl", "com.example.app", "--push-type", "alert"])
    #expect(result.code == .usage, "--push-type is not a flag of export")
    let made = try await pabal(
      "export", #"{"aps":{"alert":"a/b"},"Simulator Target Bundle":"old","x":[1.50]}"#, ["--simctl", "com.example.app"])
    #expect(made.code == .done)
    #expect(
      made.output == "{\"Simulator Target Bundle\":\"com.example.app\",\"aps\":{\"alert\":\"a/b\"},\"x\":[1.50]}\n")
    let silent = try await pabal("export", #"{"aps":{"content-available":1}}"#, ["--simctl", "com.example.app"])
    #expect(silent.code == .usage)
    #expect(silent.errors.contains("alert pushes only"))
    #expect(try await pabal("export", payload).errors.contains("--simctl is missing"))
  }

  private static let flags = [
    "--p8", "my keys/AuthKey_ABC123DEFG.p8", "--team", "TEAM123456", "--topic", "com.example.app", "--environment",
    "sandbox", "--device", String(repeating: "ab", count: 32),
  ]

  @Test func curlPrintsNoProviderToken() async throws {
    let more = ["--collapse-id", "it's", "--expiration", "0"]
    let result = try await pabal("curl", #"{"aps":{"alert":"x"}}"#, Self.flags + more)
    #expect(result.code == .done)
    #expect(
      result.output == """
        curl -i --http2 --no-progress-meter \\
          -H "authorization: bearer $(pabal jwt make --p8 'my keys/AuthKey_ABC123DEFG.p8' --team TEAM123456)" \\
          -H 'apns-topic: com.example.app' \\
          -H 'apns-push-type: alert' \\
          -H 'apns-priority: 10' \\
          -H 'apns-expiration: 0' \\
          -H 'apns-collapse-id: it'\\''s' \\
          -H 'content-type: application/json' \\
          --data-binary @F \\
          https://api.sandbox.push.apple.com/3/device/\(String(repeating: "ab", count: 32))

        """)
    #expect(!result.output.contains("eyJ"))
  }

  @Test func curlRefusesWhatApnsWouldRefuse() async throws {
    let payload = #"{"aps":{"alert":"x"}}"#
    #expect(try await pabal("curl", #"{"aps":{}}"#, Self.flags).code == .usage)
    #expect(try await pabal("curl", payload, Self.flags.dropLast() + ["(null)"]).errors.contains("missing value"))
    #expect(try await pabal("curl", payload, Self.flags + ["--priority", "7"]).errors.contains("10, 5 or 1"))
    #expect(try await pabal("curl", payload, Array(Self.flags.dropFirst(2))).errors.contains("--p8 is missing"))
  }
}
