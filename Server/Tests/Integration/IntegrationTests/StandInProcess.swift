import PabalPrimitives
import TestSupport
import Testing

/// `pabal sim serve` without devices: a stand-in that lives on when a server that uses it is killed.
struct StandInProcess: Sendable {
  let process: ChildProcess
  /// Holds its ready line, for a server to read.
  let file: String
  let control: ServerCaller

  init(in folder: TemporaryFolder) async throws {
    process = try ChildProcess(
      try TestFiles.pabal(),
      [
        "sim", "serve", "--json", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0", "--devices",
        "0", "--data", folder.file("sim"),
      ], keepsInputOpen: true)
    let line = try #require(await process.line(0), "the stand-in did not start")
    file = folder.file("sim.json")
    try TestFiles.write(line, to: file)
    control = try ServerCaller(try #require(try JSONSlice(parsing: Array(line.utf8))["control"]?.string))
  }

  /// A process that is killed has no last words; a crash or a sanitizer's report would be some.
  static func lastWords(in errors: String) -> String? {
    errors.split(separator: "\n").first { $0.contains("Sanitizer") || $0.contains("Fatal error") }.map(String.init)
  }
}
