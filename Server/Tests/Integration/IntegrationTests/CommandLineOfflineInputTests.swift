import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// Bad input of the tools that need no network: exit code 2, one complaint with its place and what to do.
@Suite struct CommandLineOfflineInputTests {
  private struct Case {
    let words: [String]
    var input: [UInt8] = []
    /// On one of the two streams.
    let expected: [String]
  }

  private func check(_ cases: [Case], _ folder: TemporaryFolder) async throws {
    for bad in cases {
      let result = try await ChildProcess.run(
        try TestFiles.pabal(), bad.words, environment: CommandStage.environment(folder), folder: folder.path,
        input: bad.input)
      #expect(result.code == 2, "\(bad.words): \(result.output) \(result.errors)")
      for fragment in bad.expected {
        #expect(
          (result.output + result.errors).contains(fragment),
          "\(bad.words): \(fragment) is not in: \(result.output) \(result.errors)")
      }
      if bad.words.first == "jwt" { #expect(result.output.isEmpty, "\(bad.words)") }
    }
  }

  @Test func makingAToken() async throws {
    let folder = try TemporaryFolder()
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: folder.file("AuthKey_ABC123DEFG.p8"))
    try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: folder.file("key.p8"))
    try TestFiles.write("", to: folder.file("empty.p8"))
    try TestFiles.write([0xFF, 0xFE, 0xE9], to: folder.file("binary.p8"))
    let make = { (words: [String], expected: [String]) in Case(words: ["jwt", "make"] + words, expected: expected) }
    let ids = ["--key-id", "ABC123DEFG", "--team", "TEAM123456"]
    try await check(
      [
        make([], ["--p8 is missing"]), make(["--p8"], ["--p8 needs a value: --p8 FILE"]),
        make(["--p8", "absent.p8", "--team", "TEAM123456"], ["The key absent.p8", "no such file; check the path"]),
        make(["--p8", "."] + ids, ["The key . is a directory", "Name the file inside it"]),
        make(["--p8", "empty.p8"] + ids, ["empty.p8", "The key is empty", "Give the .p8 file as downloaded"]),
        make(["--p8", "binary.p8"] + ids, ["binary.p8", "binary", "Give the .p8 file as downloaded"]),
        make(["--p8", "/dev/zero"] + ids, ["/dev/zero is longer than", "name the right file"]),
        make(["--p8", "key.p8", "--team", "TEAM123456"], ["--key-id is missing", "developer.apple.com › Keys"]),
        make(["--p8", "AuthKey_ABC123DEFG.p8", "--team", "T"], ["AuthKey_ABC123DEFG.p8", "10 letters or digits"]),
        make(["--p8", "key.p8", "--frob"], ["Unknown flag --frob", "`pabal jwt make --help`"]),
        make(["--p8", "key.p8", "more"], ["'more' is one word too many"]),
      ], folder)
  }

  @Test func lintingAPayload() async throws {
    let folder = try TemporaryFolder()
    let files: [String: [UInt8]] = [
      "empty.json": [], "utf16.json": [0xFF, 0xFE, 0x7B, 0x00],
      "latin1.json": Array(#"{"aps":{"alert":""#.utf8) + [0xE9] + Array(#""}}"#.utf8),
      "long.json": Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: 4097 - 20))"}}"#.utf8),
    ]
    for (name, bytes) in files { try TestFiles.write(bytes, to: folder.file(name)) }
    let lint = { (words: [String], expected: [String]) in Case(words: ["payload", "lint"] + words, expected: expected) }
    try await check(
      [
        lint([], ["FILE is missing", "- for standard input"]),
        lint(["absent.json"], ["The payload absent.json", "no such file; check the path"]),
        lint(["."], ["is a directory", "Name the file inside it"]),
        lint(
          ["empty.json"], ["empty.json:1:1: error: the payload is empty; write", "1 error, 0 warnings; 0 of 4096 "]),
        lint(["-"], ["stdin:1:1: error: the payload is empty"]),
        lint(["utf16.json"], ["utf16.json:1:1: error: these bytes are not UTF-8; save the file as UTF-8"]),
        lint(["latin1.json"], ["latin1.json:1:18: error: these bytes are not UTF-8; save the file as UTF-8"]),
        lint(["long.json"], ["long.json:1:1: error: 4097 bytes", "may have 4096, so 1 must go", "pabal payload size"]),
        lint(["long.json", "--frob"], ["Unknown flag --frob", "`pabal payload lint --help`"]),
        lint(["long.json", "--push-type", "voipp"], ["Unknown push type 'voipp'", "Did you mean voip?"]),
      ], folder)
  }

  @Test func checkingAToken() async throws {
    let folder = try TemporaryFolder()
    let check = ["devices", "check-token"]
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: 65_538)
    try await self.check(
      [
        Case(words: check, expected: ["The device token is empty"]),
        Case(words: check, input: [0xFF, 0xFE, 0xE9], expected: ["only hexadecimal digits"]),
        Case(
          words: check, input: long, expected: ["standard input is longer than 65536 bytes", "name the right file"]),
        Case(words: check + ["--frob"], expected: ["Unknown flag --frob", "`pabal devices check-token --help`"]),
        Case(words: check + ["aa", "bb"], expected: ["'bb' is one word too many"]),
        Case(words: check + ["."], expected: ["✗ "]),
      ], folder)
  }

  /// It would be sent with other characters in its place.
  @Test func aWordThatIsNotUTF8IsRefused() async throws {
    let folder = try TemporaryFolder()
    let run = try await ChildProcess.run(
      "/bin/sh", ["-c", #""$0" send -t "$(printf 'caf\351')" -b x"#, try TestFiles.pabal()],
      environment: CommandStage.environment(folder))
    #expect(run.code == 2 && run.output.isEmpty)
    #expect(
      run.errors == "pabal: Word 3 of the command line is not UTF-8. Set the terminal to UTF-8, or give a file.\n")
  }
}
