import PabalPrimitives
import TestSupport
import Testing

/// `pabal bench apns` as a user runs it.
@Suite struct CommandLineBenchTests {
  @Test("batches, and single pushes: every push is sent once, and the object adds up", arguments: ["batch", "single"])
  func bothModes(mode: String) async throws {
    try await withCommandStage(devices: 100) { stage in
      let list = stage.folder.file("tokens.txt")
      try TestFiles.write(Array((stage.tokens.joined(separator: "\n") + "\n").utf8), to: list)
      let result = try await stage.pabal(
        ["bench", "apns"] + stage.target() + [
          "--count", "60", "--in-flight", "7", "--mode", mode, "--tasks", "5", "--devices-file", list, "--json",
        ])
      #expect(result.code == 0, "\(result.errors)")
      let report = try JSONSlice(parsing: Array(result.output.utf8))
      #expect(report["object"]?.string == "bench")
      #expect(report["total"]?.int == 60)
      #expect(report["accepted"]?.int == 60)
      #expect(report["connections"]?.int == 1)
      let median = try #require(report["medianMs"]?.double)
      let longest = try #require(report["longestMs"]?.double)
      #expect(median > 0 && median <= longest)
      #expect(try await stage.requests().count == 60)
    }
  }

  @Test("pushes that are refused: exit 6, the reasons counted")
  func refused() async throws {
    try await withCommandStage { stage in
      // Made-up tokens belong to no device of the stand-in.
      let result = try await stage.pabal(
        ["bench", "apns"] + stage.target() + ["--count", "5", "--in-flight", "2", "--json"])
      #expect(result.code == 6)
      let report = try JSONSlice(parsing: Array(result.output.utf8))
      #expect(report["accepted"]?.int == 0)
      #expect(report["reasons"]?["apns.BadDeviceToken"]?.int == 5)
    }
  }

  @Test("Apple's hosts, and anything that is missing, are refused before the first byte")
  func refusals() async throws {
    try await withCommandStage { stage in
      let target = Array(try stage.target().prefix(8))
      let counts = ["--count", "5", "--in-flight", "2"]
      let cases: [([String], String)] = [
        (target + counts, "--endpoint is missing"),
        (target + counts + ["--endpoint", "https://api.push.apple.com"], "api.push.apple.com is Apple's"),
        (target + counts + ["--endpoint", "https://API.Sandbox.Push.Apple.Com.:2197"], "is Apple's"),
        (target + counts + ["--endpoint", "https://17.188.1.2"], "is Apple's"),
        (try stage.target() + ["--in-flight", "2"], "--count is missing"),
        (try stage.target() + ["--count", "5"], "--in-flight is missing"),
        (try stage.target() + counts + ["--mode", "both"], "batch, single"),
      ]
      for (arguments, expected) in cases {
        let result = try await stage.pabal(["bench", "apns"] + arguments)
        #expect(result.code == 2, "\(arguments)")
        #expect(result.errors.contains(expected), "\(result.errors)")
      }
      #expect(try await stage.requests().isEmpty)
    }
  }
}
