import APNs
import Commands
import Cryptography
import PabalPrimitives
import TestSupport
import Testing

/// `pabal send --expiration` by a clock that the test sets; nobody is there to send to.
@Suite struct SendExpirationTests {
  private struct Stage {
    let folder: TemporaryFolder
    let nobody: SilentPort
    let start = Clock.system.wall()

    init() throws {
      folder = try TemporaryFolder()
      nobody = try SilentPort(refuses: true)
      try TestFiles.write(try P256SigningKey.generate().pkcs8PEM(), to: folder.file("AuthKey_KEY1234567.p8"))
      let tokens = (1...3).map { Hex.encode(Randomness.seeded(UInt64($0)).fill(32)) }
      try TestFiles.write(tokens.joined(separator: "\n") + "\n", to: folder.file("tokens.txt"))
    }

    /// - Parameter later: seconds since the stage was made.
    func send(_ flags: [String], later: Int) async throws -> CapturedCommand {
      let wall = start.advanced(by: .seconds(later))
      return try await CapturedCommand.run(
        [
          "send", "--p8", folder.file("AuthKey_KEY1234567.p8"), "--team", "TEAM123456", "--topic", "com.example.app",
          "--endpoint", "https://127.0.0.1:\(nobody.port)", "--devices-file", folder.file("tokens.txt"), "-b", "x",
          "--retry", "0", "--json",
        ] + flags, clock: Clock(monotonic: Clock.system.monotonic, wall: { wall }))
    }
  }

  private func outcomes(_ result: CapturedCommand) throws -> (lines: [String], summary: JSONSlice) {
    var objects = try result.output.split(separator: "\n").map { try JSONSlice(parsing: Array($0.utf8)) }
    let summary = try #require(objects.last)
    objects.removeLast()
    return (objects.map { "\($0["state"]?.string ?? "") \($0["reason"]?.string ?? "")" }, summary)
  }

  @Test("OC-34 the second of the expiration is past already, the one before is not") func edge() async throws {
    let stage = try Stage()
    defer { stage.nobody.end() }
    let end = ["--expiration", "\(stage.start.seconds + 60)"]
    let late = try outcomes(try await stage.send(end, later: 60))
    #expect(late.lines == Array(repeating: "expired ttl_elapsed", count: 3))
    let early = try outcomes(try await stage.send(end, later: 58))
    #expect(early.lines == Array(repeating: "expired provider_unreachable", count: 3))
  }

  @Test("OC-34 what an earlier run may have sent stays unknown past its expiration, whatever may be repeated")
  func resumed() async throws {
    let stage = try Stage()
    defer { stage.nobody.end() }
    let journal = stage.folder.file("run.journal")
    let flags = ["--expiration", "\(stage.start.seconds + 600)", "--resume", journal]
    _ = try await stage.send(flags, later: 0)
    // A kill after the hand-over of all and the end of the first.
    let kept = String(decoding: try TestFiles.read(journal), as: UTF8.self).split(separator: "\n").filter {
      !$0.hasPrefix("end ")
    }
    try #require(kept.last?.hasPrefix("sent ") == true, "\(kept)")
    let killed = (kept + ["end accepted - 1", ""]).joined(separator: "\n")

    try TestFiles.write(killed, to: journal)
    let inTime = try outcomes(try await stage.send(flags + ["--retry-unknown"], later: 10))
    #expect(inTime.lines == Array(repeating: "expired provider_unreachable", count: 2))
    for repeats in [[], ["--retry-unknown"]] {
      try TestFiles.write(killed, to: journal)
      let late = try outcomes(try await stage.send(flags + repeats, later: 601))
      #expect(late.lines == Array(repeating: "unknown reply_lost", count: 2), "\(repeats)")
      #expect(late.summary["states"]?["accepted"]?.int == 1)
    }
  }
}
