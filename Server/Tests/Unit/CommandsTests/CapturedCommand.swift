import ArgumentParsing
import Commands
import PabalPrimitives
import TestSupport

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A command line run in this process, with what it printed.
struct CapturedCommand {
  let code: ExitCode
  let output: String
  let errors: String

  /// - Parameter terminal: what standard output pretends to be.
  static func run(
    _ words: [String], environment: [String: String] = [:], clock: Clock = .system,
    terminal: Terminal = Terminal(isTerminal: false)
  ) async throws -> CapturedCommand {
    let folder = try TemporaryFolder()
    let files = try ["out", "err"].map { name in
      let file = open(folder.file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw TestFiles.Failure(description: "no file for a command's output: errno \(errno)") }
      return file
    }
    defer { for file in files { close(file) } }
    let context = CommandContext(
      environment: ["XDG_RUNTIME_DIR": folder.path].merging(environment) { $1 }, output: CommandOutput(file: files[0]),
      errors: CommandOutput(file: files[1]), outputTerminal: terminal, errorTerminal: terminal, clock: clock,
      randomness: .seeded(1), signals: SignalWatch())
    let code = await CommandLineTool.run(words, context)
    context.output.flush()
    return CapturedCommand(
      code: code, output: String(decoding: try TestFiles.read(folder.file("out")), as: UTF8.self),
      errors: String(decoding: try TestFiles.read(folder.file("err")), as: UTF8.self))
  }

  func json() throws -> JSONSlice { try JSONSlice(parsing: Array(output.utf8)) }
}
