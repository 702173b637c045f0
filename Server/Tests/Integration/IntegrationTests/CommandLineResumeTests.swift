import Commands
import PabalModel
import PabalPrimitives
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `--resume`: a journal that outlives the process.
@Suite struct CommandLineResumeTests {
  /// 2,000 lines and 5 kills in `make test`; 20,000 and 50 with `PABAL_TEST_SCALE=20`.
  private static let scale = getenv("PABAL_TEST_SCALE").flatMap { Int(String(cString: $0)) } ?? 1

  @Test("kill -9 at random moments: no line is sent twice, and none is forgotten") func kills() async throws {
    let lines = max(2000, 1000 * Self.scale)
    let kills = Self.scale >= 20 ? 50 : 5
    try await withCommandStage(devices: lines) { stage in
      let run = try await JournaledRun(stage, lines: lines)
      var generator = SeededGenerator(seed: 20_270_205)
      for _ in 0..<kills { try await run.kill(after: Int.random(in: 1..<(lines / kills / 2), using: &generator)) }
      let summary = try await run.finish()

      let journal = try run.journal()
      #expect(journal.ended.count == lines)
      #expect(journal.handedOver.count == 0)
      let taken = try await run.taken()
      #expect(taken.values.allSatisfy { $0 == 1 }, "a line was taken twice")
      let unknown = try run.lines(ended: .unknown)
      let accepted = try run.lines(ended: .accepted)
      let all = Set(1...lines)
      #expect(all.subtracting(taken.keys).isSubset(of: unknown), "a line is gone without a word")
      #expect(accepted == Set(taken.keys).subtracting(unknown))
      #expect(accepted.union(unknown) == all)
      // What was journaled and not yet answered: at least the one without an answer, those in flight, and three
      // blocks on their way.
      #expect(unknown.count >= kills)
      #expect(unknown.count <= kills * (JournaledRun.concurrency + 3 * 16), "\(unknown.count)")
      #expect(summary["total"]?.int == lines)
      #expect(summary["states"]?["unknown"]?.int == unknown.count)
      #expect(summary["reasons"]?["reply_lost"]?.int == unknown.count)
      #expect(run.printedTwice.isEmpty)

      // Nothing is left to do.
      let before = try await stage.statistic("requests")
      let again = try await run.finish()
      #expect(again["states"]?["accepted"]?.int == accepted.count)
      #expect(try await stage.statistic("requests") == before)
    }
  }

  @Test("--retry-unknown sends what a kill left open again, with the same id") func retryUnknown() async throws {
    try await withCommandStage(devices: 300) { stage in
      let run = try await JournaledRun(stage, lines: 300)
      // The second run says `unknown` of what the first left open; the third sends those again too.
      try await run.kill(after: 40)
      try await run.kill(after: 40)
      let before = try run.journal()
      #expect(try run.lines(ended: .unknown).count >= 1)
      #expect(before.handedOver.count >= 1)
      let summary = try await run.finish("--retry-unknown")
      #expect(summary["states"]?["accepted"]?.int == 300)
      let taken = try await run.taken()
      #expect(Set(taken.keys) == Set(1...300))
      let ids = try await run.apnsIDs()
      #expect(ids.values.allSatisfy { $0.count == 1 }, "a repeat has another id")
      #expect(Set(ids.values.flatMap { $0 }).count == 300)
    }
  }

  @Test func whatCtrlCCanceledIsSentByTheNextRun() async throws {
    try await withCommandStage(devices: 60) { stage in
      let run = try await JournaledRun(stage, lines: 60)
      try await stage.setFaults([
        ["match": ["nth": 1], "then": ["delayMs": 1]], ["then": ["silenceMs": 600_000]],
      ])
      let process = try run.start()
      #expect(await process.line(0)?.contains("\"accepted\"") == true)
      process.signal(SIGINT)
      #expect(await process.line(0, of: .errors)?.hasPrefix("Stopping:") == true)
      process.signal(SIGINT)
      let first = await process.result()
      #expect(first.code == 130)
      #expect(try first.objects().count == 61)
      let unknown = try run.lines(ended: .unknown)
      #expect(unknown.count <= JournaledRun.concurrency)
      try await stage.setFaults([])
      let summary = try await run.finish()
      #expect(summary["total"]?.int == 60)
      #expect(summary["states"]?["canceled"]?.int == 0)
      #expect(summary["states"]?["accepted"]?.int == 60 - unknown.count)
    }
  }

  @Test func aJournalBelongsToItsRun() async throws {
    try await withCommandStage(devices: 3) { stage in
      let run = try await JournaledRun(stage, lines: 3)
      _ = try await run.finish()
      let others = [
        run.arguments.map { $0 == "x" ? "y" : $0 }, run.arguments + ["--priority", "5"],
        run.arguments + ["--expiration", "+1h"], run.arguments + ["--topic=com.example.other"],
      ]
      for (index, arguments) in others.enumerated() {
        // A flag is given once.
        let words = index == 3 ? try Self.without("--topic", arguments) : arguments
        let result = try await stage.pabal(words)
        #expect(result.code == 5, "\(result.errors)")
        #expect(result.errors.contains("belongs to another run"))
      }
      try TestFiles.write(stage.tokens[0], to: run.list)
      #expect(try await stage.pabal(run.arguments).code == 5)
      #expect(try await stage.statistic("requests") == 3)
    }
  }

  @Test func aJournalHasOneRunAtATime() async throws {
    try await withCommandStage(devices: 3) { stage in
      let run = try await JournaledRun(stage, lines: 3)
      try await stage.setFaults([["match": ["nth": 2], "then": ["silenceMs": 600_000]]])
      let process = try run.start()
      #expect(await process.line(0) != nil)
      let second = try await stage.pabal(run.arguments)
      #expect(second.code == 5)
      #expect(second.errors.contains("Another pabal"))
      process.signal(SIGKILL)
      _ = await process.result()
    }
  }

  @Test func aDamagedJournalIsNoReasonToSendAgain() async throws {
    try await withCommandStage(devices: 3) { stage in
      let run = try await JournaledRun(stage, lines: 3)
      _ = try await run.finish()
      let text = String(decoding: try TestFiles.read(run.path), as: UTF8.self)
      // What a power cut leaves of the last record is none.
      try TestFiles.write(text + "end acc", to: run.path)
      #expect(try await run.finish()["states"]?["accepted"]?.int == 3)
      #expect(String(decoding: try TestFiles.read(run.path), as: UTF8.self) == text)
      try TestFiles.write(text + "end acc\n", to: run.path)
      let result = try await stage.pabal(run.arguments)
      #expect(result.code == 2)
      #expect(result.errors.contains("cannot be read at line"))
      #expect(try await stage.statistic("requests") == 3)
    }
  }

  private static func without(_ flag: String, _ arguments: [String]) throws -> [String] {
    var words = arguments
    let index = try #require(words.firstIndex(of: flag))
    words.removeSubrange(index...(index + 1))
    return words
  }
}
