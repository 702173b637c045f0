import PabalPrimitives
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What only a terminal gets.
@Suite struct CommandLineTerminalTests {
  /// Runs until the bar stands there, then until the first Ctrl-C is answered.
  private func interrupted(_ stage: CommandStage) async throws -> ChildProcess.Result {
    // A run has a bar after a second; the first answer comes later than that, the others never.
    try await stage.setFaults([["match": ["nth": 1], "then": ["delayMs": 1100]], ["then": ["silenceMs": 600_000]]])
    let process = try stage.start(
      ["send"] + stage.target() + [
        "--device", stage.tokens[0], stage.tokens[1], stage.tokens[2], "-b", "x", "--request-timeout", "1h",
      ], errorsAreTerminal: true)
    #expect(await process.holds("\r sending  ", in: .errors))
    process.signal(SIGINT)
    #expect(await process.holds("to stop at once.", in: .errors))
    process.signal(SIGINT)
    return await process.result()
  }

  @Test("the first Ctrl-C takes the bar away before it speaks") func stoppingLine() async throws {
    try await withCommandStage { stage in
      let result = try await interrupted(stage)
      #expect(result.code == 130)
      let parts = result.errors.split(separator: "Stopping: ")
      #expect(parts.count == 2)
      #expect(parts.first?.hasSuffix("\r\u{1B}[K") == true, "\(result.errors.debugDescription)")
    }
  }
}
