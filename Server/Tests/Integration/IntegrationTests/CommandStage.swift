import PabalPrimitives
import TestSupport
import Testing

/// A `pabal sim serve` of its own, and `pabal` as a user runs it.
final class CommandStage: Sendable {
  let folder: TemporaryFolder
  let ready: JSONSlice
  let control: ServerCaller
  let tokens: [String]
  private let process: ChildProcess

  init(devices: Int = 3) async throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    process = try ChildProcess(
      try TestFiles.pabal(),
      [
        "sim", "serve", "--sandbox-port", "0", "--production-port", "0", "--control-port", "0", "--devices",
        "\(devices)", "--data", folder.file("simulator"), "--json",
      ], environment: Self.environment(folder), keepsInputOpen: true)
    guard let line = await process.line(0) else {
      let result = await process.result()
      throw TestFiles.Failure(description: "sim serve did not start: \(result.errors)")
    }
    ready = try JSONSlice(parsing: Array(line.utf8))
    tokens = (ready["devices"]?.elements ?? []).compactMap { $0["token"]?.string }
    control = try ServerCaller(try #require(ready["control"]?.string))
  }

  /// Nothing of the machine's own environment reaches the command, its shared provider token included.
  static func environment(_ folder: TemporaryFolder) -> [String: String] {
    ["PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path, "LANG": "C.UTF-8"]
  }

  var environment: [String: String] { Self.environment(folder) }

  func apns(_ name: String) throws -> String { try #require(ready["apns"]?[name]?.string) }

  /// Flags that lead to this stand-in.
  func target() throws -> [String] {
    try [
      "--p8", apns("keyFile"), "--key-id", apns("keyId"), "--team", apns("teamId"), "--topic", apns("topic"),
      "--endpoint", apns("sandbox"), "--ca", apns("caFile"),
    ]
  }

  func pabal(_ arguments: [String], input: [UInt8] = []) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      try TestFiles.pabal(), arguments, environment: environment, folder: folder.path, input: input)
  }

  func send(_ arguments: String..., input: [UInt8] = []) async throws -> ChildProcess.Result {
    try await pabal(["send"] + target() + arguments, input: input)
  }

  func start(_ arguments: [String], errorsAreTerminal: Bool = false) throws -> ChildProcess {
    try ChildProcess(
      try TestFiles.pabal(), arguments, environment: environment, folder: folder.path,
      errorsAreTerminal: errorsAreTerminal)
  }

  func setFaults(_ rules: [JSONValue]) async throws {
    let answer = try await control("PUT", "/v1/simulator/faults", ["rules": .array(rules)])
    try #require(answer.status == 200, "\(answer.text)")
  }

  /// Requests that APNs has seen.
  func requests() async throws -> [JSONSlice] {
    try #require(try await control("GET", "/v1/simulator/requests?limit=1000").json()["data"]).elements
  }

  /// A count of the stand-in since its start.
  func statistic(_ name: String) async throws -> Int {
    try #require(try await control("GET", "/v1/simulator/stats").json()[name]?.int)
  }

  func inbox() async throws -> [JSONSlice] {
    try #require(try await control("GET", "/v1/simulator/inbox?limit=1000").json()["data"]).elements
  }

  func stop() async -> ChildProcess.Result {
    process.closeInput()
    return await process.result()
  }
}

func withCommandStage(devices: Int = 3, _ body: (CommandStage) async throws -> Void) async throws {
  let stage = try await CommandStage(devices: devices)
  do {
    try await body(stage)
  } catch {
    _ = await stage.stop()
    throw error
  }
  let end = await stage.stop()
  #expect(end.code == 0, "\(end.errors)")
}

extension ChildProcess.Result {
  /// The objects of NDJSON output.
  func objects() throws -> [JSONSlice] {
    try lines.map { try JSONSlice(parsing: Array($0.utf8)) }
  }
}
