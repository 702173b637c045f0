import Foundation
import PabalPrimitives
import PabalSimulation

/// A `pabal` that runs as a child: `up` or `sim serve`. Its first line of output is its ready line.
final class PabalProgram: Sendable {
  private struct State {
    var output: [UInt8] = []
    var errors: [UInt8] = []
    /// All that the child wrote is in `output`.
    var isOutputWhole = false
    var hasEnded = false
  }

  private let process: Locked<Process>
  private let state: Locked<State>
  private let input: Pipe
  let processID: Int32

  /// Kept of what the child says on its error stream: enough for its last words.
  private static let errorBytes = 16 * 1024

  /// On a thread of its own: Foundation for Linux marks the thread that starts a process, and the mark goes with it.
  static func start(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> PabalProgram {
    try await OwnThread.run { Result { try PabalProgram(executable, arguments, environment) } }.get()
  }

  private init(_ executable: String, _ arguments: [String], _ environment: [String: String]) throws {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: executable)
    child.arguments = arguments
    child.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    let errors = Pipe()
    let state = Locked(State())
    child.standardOutput = output
    child.standardError = errors
    // Never written to: it closes with this process, however that ends, and the child ends with it.
    let input = Pipe()
    child.standardInput = input
    child.terminationHandler = { _ in state.withLock { $0.hasEnded = true } }
    try child.run()
    // Both streams are drained for as long as the child lives: a full pipe would stop it.
    Self.drain(output) { bytes in
      state.withLock { bytes.isEmpty ? ($0.isOutputWhole = true) : ($0.output += bytes) }
    }
    Self.drain(errors) { bytes in
      state.withLock { $0.errors = Array(($0.errors + bytes).suffix(Self.errorBytes)) }
    }
    processID = child.processIdentifier
    self.input = input
    self.state = state
    process = Locked(child)
  }

  /// Hands on what comes, and nothing at the end. On a thread of its own, because Foundation for Linux never frees a
  /// `readabilityHandler`.
  private static func drain(_ pipe: Pipe, _ take: @escaping @Sendable (Data) -> Void) {
    let handle = pipe.fileHandleForReading
    OwnThread.start {
      while true {
        let bytes = handle.availableData
        take(bytes)
        if bytes.isEmpty { return }
      }
    }
  }

  /// The first line of output, as JSON. Throws `Unmet` when the child ends or says something else.
  func readyLine() async throws -> JSONSlice {
    while true {
      let (line, hasEnded) = state.withLock { state in
        (state.output.firstIndex(of: UInt8(ascii: "\n")).map { Array(state.output[..<$0]) }, state.hasEnded)
      }
      if let line { return try JSONSlice(parsing: line) }
      try expect(!hasEnded, "pabal ended before it was ready: \(lastWords)")
      try await RealTime.pass(.milliseconds(20))
    }
  }

  var lastWords: String {
    String(decoding: state.withLock { $0.errors }.suffix(600), as: UTF8.self)
  }

  /// Asks the child, and nobody else, to end, and waits until it has.
  func stop() async {
    process.withLock { if $0.isRunning { $0.terminate() } }
    for _ in 0..<500 where !(state.withLock { $0.hasEnded }) { await pause() }
    if !(state.withLock { $0.hasEnded }) { kill(processID, SIGKILL) }
    await letGo()
  }

  /// Foundation for Linux keeps a process and all that hangs on it until somebody has waited for it in this way.
  private func letGo() async {
    await OwnThread.run { [process] in process.withLock { $0.waitUntilExit() } }
  }

  /// 20 ms, also in a cancelled task: the child must be waited for then as well.
  private func pause() async {
    await Task { do { try await RealTime.pass(.milliseconds(20)) } catch { return } }.value
  }

  /// Runs `pabal` to its end and answers what it said.
  static func run(
    _ executable: String, _ arguments: [String], environment: [String: String]
  ) async throws -> (status: Int32, output: String) {
    let program = try await start(executable, arguments, environment: environment)
    while !program.state.withLock({ $0.hasEnded }) { try await RealTime.pass(.milliseconds(20)) }
    // The pipe may still hold what the ended child wrote.
    for _ in 0..<100 where !(program.state.withLock { $0.isOutputWhole }) { await program.pause() }
    await program.letGo()
    let status = program.process.withLock { $0.terminationStatus }
    return (status, String(decoding: program.state.withLock { $0.output }, as: UTF8.self))
  }
}
