import APNs
import ArgumentParsing
import Commands
import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// `pabal devices check-token` and `pabal jwt inspect`: offline judgements of pasted texts.
@Suite struct TokenCommandTests {
  private static let token = String(repeating: "ab12", count: 16)

  @Test(arguments: [
    ("(null)", "placeholder"), ("nil", "placeholder"),
    ("{length = 32, bytes = 0x740f4707 bebcf74f ... 77b6 4bad }", "dataDescription"),
    ("dXNlcg:APA91bE-token", "fcmToken"), ("dA9HB768909Jt8Jdeb4PNF9qoB2l3bOHRi6Or2G7eK0=", "base64"),
    (token + " " + token, "innerSpace"), (token + "zz", "notHexadecimal"), ("0x" + token, "prefixed"),

    ("https://web.push.apple.com/abc", "address"), ("6e0b3fb4-8f1c-4bb1-9b9f-0f8b4b6f7a11", "uuid"),
    (String(token.dropLast()), "oddLength"), ("", "empty"),
  ])
  func theClassicMistakesAreNamed(text: String, mistake: String) async throws {
    let result = try await CapturedCommand.run(["devices", "check-token", "--json", "--", text])
    #expect(result.code == .usage)
    #expect(try result.json()["mistake"]?.string == mistake)
    #expect(try result.json()["valid"]?.bool == false)
    for language in ["en", "ko"] {
      let words = try await CapturedCommand.run(
        ["devices", "check-token", "--", text], environment: ["PABAL_LANG": language])
      let sentence = try #require(try result.json()["message"]?[language]?.string)
      #expect(words.output == "✗ \(sentence)\n")
    }
  }

  @Test func aCutDescriptionIsSaidToBeLost() async throws {
    let result = try await CapturedCommand.run(["devices", "check-token", "{length = 32, bytes = 0x740f ... 4bad }"])
    #expect(result.output.hasPrefix("✗ The middle is cut off (\"...\"), so it cannot be restored."))
    #expect(result.output.contains("deviceToken.map { String(format: \"%02x\", $0) }.joined()"))
  }

  @Test(arguments: [token, token.uppercased(), "  \(token)\n", "<\(token.prefix(32)) \(token.suffix(32))>"])
  func tokensAreShownShortAndInObjectsWhole(text: String) async throws {
    let shown = try await CapturedCommand.run(["devices", "check-token", text])
    #expect(shown.code == .done)
    #expect(shown.output.hasPrefix("✓ A device token of 32 bytes: ab12…ab12\n"))
    #expect(!shown.output.contains(Self.token))
    let object = try await CapturedCommand.run(["devices", "check-token", "--json", text]).json()
    #expect(object["token"]?.string == Self.token)
    #expect(object["rewritten"]?.bool == (text != Self.token))
  }

  private static let now = WallTime(rfc3339: "2026-12-01T10:00:00Z") ?? WallTime(milliseconds: 0)
  private static let clock = ManualClock(wall: now).clock

  private struct Pair {
    let folder: TemporaryFolder
    let key: P256SigningKey
    var keyFile: String { folder.file("key.p8") }

    init() throws {
      folder = try TemporaryFolder()
      key = try P256SigningKey.generate()
      try TestFiles.write(try key.pkcs8PEM(), to: folder.file("key.p8"))
    }

    func signed(_ header: String, _ claims: String) throws -> String {
      let text = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
      return text + "." + Base64URL.encode(try key.sign(Array(text.utf8)))
    }

    func inspect(_ token: String, _ more: [String] = []) async throws -> CapturedCommand {
      try TestFiles.write(token, to: folder.file("token.txt"))
      return try await CapturedCommand.run(
        ["jwt", "inspect", folder.file("token.txt")] + more, clock: TokenCommandTests.clock)
    }
  }

  private static let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
  private static func claims(minutesAgo: Int64) -> String {
    #"{"iss":"TEAM123456","iat":\#(now.seconds - minutesAgo * 60)}"#
  }

  @Test func aGoodTokenIsReadAndItsSignatureCheckedOnDemand() async throws {
    let pair = try Pair()
    let token = try pair.signed(Self.header, Self.claims(minutesAgo: 12))
    let unchecked = try await pair.inspect("authorization: bearer \(token)\n")
    #expect(unchecked.code == .done)
    #expect(
      unchecked.output == """
        alg  ES256
        kid  ABC123DEFG
        iss  TEAM123456
        iat  \(Self.now.seconds - 720)   2026-12-01T09:48:00.000Z, 12 min ago
        ! signature not checked; give the key with --key FILE

        """)
    let checked = try await pair.inspect(token, ["--key", pair.keyFile])
    #expect(checked.code == .done)
    #expect(checked.output.contains("✓ signature of this key"))
    let other = try await Pair().inspect(token, ["--key", try Pair().keyFile])
    #expect(other.code == .usage, "the key's folder is gone")
    let stranger = try Pair()
    let wrong = try await pair.inspect(token, ["--key", stranger.keyFile, "--json"])
    #expect(wrong.code == .usage)
    #expect(try wrong.json()["signature"]?.string == "wrong")
  }

  @Test(arguments: [
    (header, claims(minutesAgo: 61), "older than 60 minutes"),
    (header, claims(minutesAgo: -61), "in the future"),
    (header, #"{"iss":"TEAM123456","iat":1796119200000}"#, "in milliseconds"),
    (header, #"{"iss":"TEAM123456","iat":"1796119200"}"#, "without quotes; found string"),
    (header, #"{"iss":"TEAM123456"}"#, "iat is missing"),
    (#"{"alg":"RS256","kid":"ABC123DEFG"}"#, claims(minutesAgo: 1), "alg is RS256; APNs takes ES256 alone"),
    (#"{"kid":"ABC123DEFG"}"#, claims(minutesAgo: 1), "alg is nothing"),
    (#"{"alg":"ES256"}"#, claims(minutesAgo: 1), "kid is missing in the header"),
    (#"{"alg":"ES256","kid":"SHORT"}"#, claims(minutesAgo: 1), "kid has 5 characters"),
  ])
  func whatApnsWouldRefuseIsSaid(header: String, claims: String, expected: String) async throws {
    let pair = try Pair()
    let result = try await pair.inspect(try pair.signed(header, claims))
    #expect(result.code == .usage)
    #expect(result.output.contains("✗ "))
    #expect(result.output.contains(expected), "\(result.output)")
  }

  @Test func aSignatureInDERIsRecognised() async throws {
    let pair = try Pair()
    let text =
      Base64URL.encode(Array(Self.header.utf8)) + "." + Base64URL.encode(Array(Self.claims(minutesAgo: 1).utf8))
    let der: [UInt8] = [0x30, 0x45] + [UInt8](repeating: 1, count: 69)
    let result = try await pair.inspect(text + "." + Base64URL.encode(der))
    #expect(result.output.contains("The signature is DER"))
    let cut = try await pair.inspect(text + "." + Base64URL.encode([1, 2, 3]))
    #expect(cut.output.contains("The signature has 3 bytes"))
  }

  @Test(arguments: ["hello", "a.b", "a.b.c", "e30.e30"])
  func whatIsNoTokenIsSaidToBeNone(text: String) async throws {
    let result = try await Pair().inspect(text)
    #expect(result.code == .usage)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("This is no provider token"))
    #expect(result.errors.contains("pabal jwt make"))
  }
}
