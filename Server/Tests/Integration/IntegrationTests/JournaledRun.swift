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

/// A list with one line for each of the stand-in's devices, sent with a journal, however often it takes.
final class JournaledRun: Sendable {
  /// In flight at once.
  static let concurrency = 20

  let list: String
  let path: String
  let arguments: [String]
  private let stage: CommandStage
  private let tokens: [String]
  private let printed = Locked<(once: Set<Int>, twice: Set<Int>)>(([], []))

  init(_ stage: CommandStage, lines: Int) async throws {
    self.stage = stage
    list = stage.folder.file("list.txt")
    path = stage.folder.file("run.journal")
    tokens = Array(
      try await stage.pages("/v1/simulator/devices").compactMap { $0["token"]?.string }.sorted().prefix(lines))
    try #require(tokens.count == lines)
    try TestFiles.write(tokens.joined(separator: "\n"), to: list)
    arguments =
      try ["send"] + stage.target() + [
        "--devices-file", list, "-b", "x", "--resume", path, "--concurrency", "\(Self.concurrency)", "--json",
      ]
  }

  /// Lines that were printed by more than one run.
  var printedTwice: Set<Int> { printed.withLock { $0.twice } }

  func start() throws -> ChildProcess { try stage.start(arguments) }

  /// Starts the command and ends it by SIGKILL when so many outcomes are out.
  ///
  /// One request among the first so many gets no answer, and none does after as many answers: however late the signal
  /// comes, the command still runs, has something in flight and most of its list before it.
  func kill(after outcomes: Int) async throws {
    let count = JSONValue.int(Int64(max(1, outcomes)))
    try await stage.setFaults([
      ["match": ["nth": count], "then": ["delayMs": 600_000]], ["times": count, "then": ["delayMs": 1]],
      ["then": ["delayMs": 600_000]],
    ])
    let process = try start()
    if outcomes > 0 { _ = await process.line(outcomes - 1) }
    process.signal(SIGKILL)
    note(await process.result())
  }

  /// - Returns: the summary.
  func finish(_ more: String...) async throws -> JSONSlice {
    try await stage.setFaults([])
    let result = try await stage.pabal(arguments + more)
    #expect([0, 6].contains(result.code), "\(result.errors)")
    note(result)
    return try #require(try result.objects().last)
  }

  private func note(_ result: ChildProcess.Result) {
    printed.withLock { printed in
      for text in result.output.split(separator: "\n") {
        // The last line of a killed process may be half a line.
        guard let line = Self.object(text)?["line"]?.int else { continue }
        if !printed.once.insert(line).inserted { printed.twice.insert(line) }
      }
    }
  }

  private static func object(_ text: Substring) -> JSONSlice? {
    do {
      return try JSONSlice(parsing: Array(text.utf8))
    } catch {
      return nil
    }
  }

  // MARK: - What came of it

  private func records() throws -> [JournalRecord] {
    let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
    return try text.split(separator: "\n").dropFirst(3).map { line in
      try #require(JournalRecord(line, last: tokens.count))
    }
  }

  func journal() throws -> JournalState {
    var state = JournalState()
    for record in try records() {
      switch record {
      case .handedOver(let ranges): for range in ranges { state.handOver(range) }
      case .ended(let ranges, let ending): for range in ranges { state.end(range, ending) }
      }
    }
    return state
  }

  func lines(ended state: DeliveryState) throws -> Set<Int> {
    var lines: Set<Int> = []
    for case .ended(let ranges, let ending) in try records() where ending.state == state {
      for range in ranges { lines.formUnion(range) }
    }
    return lines
  }

  /// How often the stand-in took each line.
  func taken() async throws -> [Int: Int] {
    try await items().mapValues(\.count)
  }

  func apnsIDs() async throws -> [Int: Set<String>] {
    try await items().mapValues { Set($0.compactMap { $0["apnsId"]?.string }) }
  }

  private func items() async throws -> [Int: [JSONSlice]] {
    let devices = try await stage.pages("/v1/simulator/devices")
    let lines = Dictionary(uniqueKeysWithValues: tokens.enumerated().map { ($1, $0 + 1) })
    var owners: [String: Int] = [:]
    for device in devices {
      guard let id = device["id"]?.string, let token = device["token"]?.string else { continue }
      owners[id] = lines[token]
    }
    var items: [Int: [JSONSlice]] = [:]
    for item in try await stage.pages("/v1/simulator/inbox") {
      let line = try #require(item["device"]?.string.flatMap { owners[$0] })
      items[line, default: []].append(item)
    }
    return items
  }
}

extension CommandStage {
  /// All elements of a list of the control API.
  func pages(_ path: String) async throws -> [JSONSlice] {
    var elements: [JSONSlice] = []
    var cursor: String?
    repeat {
      let query = "?limit=1000" + (cursor.map { "&cursor=\($0)" } ?? "")
      let page = try await control("GET", path + query).json()
      elements += try #require(page["data"]).elements
      cursor = page["nextCursor"]?.string
    } while cursor != nil
    return elements
  }
}
