import PabalPrimitives
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What a run takes of the machine, however long its list is.
@Suite(.serialized) struct CommandLineMemoryTests {
  private static let scale = getenv("PABAL_TEST_SCALE").flatMap { Int(String(cString: $0)) } ?? 1

  /// `scripts/run-test --sanitized` sets it for both sanitizers. Their own records of what a program touches are memory
  /// of the program too: several times what it uses itself, so that the bounds are wider by that.
  private static let sanitizer = getenv("ASAN_OPTIONS").map { String(cString: $0) }
  private static let allowance = sanitizer == nil ? 1 : 8

  /// Starts a program from a small process, since the kernel counts the starter's memory too.
  private static let weigh = """
    import os, subprocess, sys
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * unit)
    """

  /// Many apps in one process are the server's matter; here a process has one transport, which is gone with it.
  @Test("OC-79 a list ten times as long takes one connection and no more memory") func tenfold() async throws {
    try await withCommandStage { stage in
      let small = try await Self.peak(stage, lines: 1000)
      let large = try await Self.peak(stage, lines: 10_000)
      #expect(large - small < Self.allowance * 16 << 20, "\(small) and \(large) bytes")
      #expect(try await stage.statistic("connections") <= 2)
    }
  }

  /// 12,500 recipients; 250,000, as the case has them, with `PABAL_TEST_SCALE=20`. That other apps' pushes go out
  /// beside them is shown by the server's lanes.
  @Test("OC-81 a campaign is streamed: memory rises by less than a fixed bound") func campaign() async throws {
    try await withCommandStage { stage in
      try await stage.setFaults([["then": ["delayMs": 50]]])
      let text = String(repeating: "x", count: 1000)
      let one = try await Self.peak(stage, lines: 1, text: text)
      let many = try await Self.peak(stage, lines: 12_500 * Self.scale, text: text)
      #expect(many - one < Self.allowance * 64 << 20, "\(one) and \(many) bytes")
    }
  }

  /// Peak resident memory of a run that ends well, in bytes.
  private static func peak(_ stage: CommandStage, lines: Int, text: String = "x") async throws -> Int {
    let list = stage.folder.file("list-\(lines).txt")
    let tokens = (0..<lines).map { stage.tokens[$0 % stage.tokens.count] }
    try TestFiles.write(tokens.joined(separator: "\n"), to: list)
    let send = [
      try TestFiles.pabal(), "send", "--devices-file", list, "-b", text, "--no-duplicate-check", "--json", "--quiet",
    ]
    var environment = stage.environment
    // AddressSanitizer keeps what was freed, 256 MB of it if it is not told otherwise.
    environment["ASAN_OPTIONS"] = sanitizer.map { "\($0):quarantine_size_mb=1" }
    let result = try await ChildProcess.run(
      try TestFiles.peerPython(), ["-c", weigh] + send + stage.target(), environment: environment)
    let words = result.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(words.count == 2 && words[0] == 0, "\(result.output)\(result.errors)")
    return words[1]
  }
}
