import APNs
import ArgumentParsing
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS

/// What `pabal bench apns` sends, all of it made before the first push leaves.
struct BenchPlan: Sendable {
  enum Mode: String, CaseIterable {
    case batch, single
  }

  /// Pushes handed over at once: enough that handing over costs next to nothing, few enough that tasks take turns.
  static let batchPushes = 500
  /// Enough tokens for a bench, and few enough to hold.
  private static let pushesMaximum = 10_000_000
  /// A key, or an authority, is far shorter.
  private static let fileBytes = 1 << 20
  private static let devicesFileBytes = 1 << 30
  /// Whoever benches a server that is not there wants to know soon.
  let dials = 4

  let endpoint: Endpoint
  let tls: TLSClientContext
  let credential: APNsTokenCredential
  let connections: Int
  let inFlight: Int
  let tasks: Int
  let isSingle: Bool
  let head: APNsHead
  let payload: APNsPayload
  let tokens: [DeviceToken]
  let apnsIDs: [APNsID]

  /// - Throws: `UsageError` and the errors of key and payload.
  init(_ command: ParsedCommand, _ context: CommandContext) throws {
    _ = try command.required(SendOptions.endpoint)
    endpoint = try SendEndpoint.place(command)
    tls = try TLSClientContext(trust: try SendEndpoint.trust(command))
    guard !Self.isApple(endpoint.host) else {
      throw UsageError(
        "\(endpoint.host) is Apple's: pushes to tokens that do not exist would only get your key blocked. "
          + "Run `pabal sim serve` and name its endpoint.")
    }
    credential = try SendCredential.token(
      command, environment: context.environment, team: command.value(BenchAPNs.team) ?? "BENCHTEAM1"
    ).0
    isSingle = try command.choice(BenchAPNs.mode, of: Mode.self) == .single
    guard let count = try command.integer(BenchAPNs.count, in: 1...Self.pushesMaximum) else {
      throw UsageError("--count is missing: how many pushes?")
    }
    guard let inFlight = try command.integer(BenchAPNs.inFlight, in: 1...64_000) else {
      throw UsageError("--in-flight is missing: how many pushes may wait for their answers at once?")
    }
    self.inFlight = inFlight
    tasks = try command.integer(BenchAPNs.tasks, in: 1...100_000) ?? (isSingle ? 2000 : 8)
    connections = try command.integer(SendOptions.connections, in: 1...64) ?? 1
    head = try APNsHead(
      topic: Topic(rawValue: command.value(BenchAPNs.topic) ?? "com.example.demo"), pushType: .alert,
      expiration: .at(WallTime(seconds: 1_900_000_000)))
    let text = try command.value(BenchAPNs.payload).map {
      try InputFile.contents(of: $0, what: "The payload", limit: Self.fileBytes)
    }
    payload = try APNsPayload(checking: text ?? Array(Self.defaultPayload.utf8), for: .alert)
    let randomness = Randomness.seeded(1)
    let tokens = try command.value(BenchAPNs.devicesFile).map(Self.read) ?? Self.made(count, randomness)
    guard tokens.count >= count else {
      throw UsageError("--devices-file has \(tokens.count) tokens, and --count is \(count).")
    }
    // For all of the file, so that two runs with it differ by the pushes alone.
    apnsIDs = tokens.map { _ in APNsID(random: randomness) }
    self.tokens = Array(tokens.prefix(count))
  }

  private static let terms = PushTerms(expiresAt: nil, repeatsUnknown: false)

  /// Some of the pushes as a batch, filled as `pabal send` fills one.
  func batch(_ range: Range<Int>) -> PushBatch {
    var batch = PushBatch(reserving: range.count)
    let content = batch.content(head, payload)
    for index in range {
      batch.append(to: tokens[index], content, tag: UInt64(index), apnsID: apnsIDs[index], terms: Self.terms)
    }
    return batch
  }

  /// One of them alone.
  func push(_ index: Int) -> APNsPush {
    APNsPush(
      tag: UInt64(index), request: APNsRequest(token: tokens[index], head: head, payload: payload),
      apnsID: apnsIDs[index])
  }

  private static let defaultPayload =
    #"{"aps":{"alert":{"title":"A talent request","body":""# + String(repeating: "x", count: 176)
    + #""},"sound":"default"}}"#

  private static func read(_ path: String) throws -> [DeviceToken] {
    let text = try InputFile.contents(of: path, what: "The list", limit: devicesFileBytes)
    return try text.split(separator: UInt8(ascii: "\n")).enumerated().map { index, line in
      do throws(DeviceTokenError) {
        return try DeviceToken(parsing: String(decoding: line, as: UTF8.self))
      } catch {
        throw UsageError("\(path), line \(index + 1): \(error.message)", code: error.code)
      }
    }
  }

  private static func made(_ count: Int, _ randomness: Randomness) -> [DeviceToken] {
    (0..<count).compactMap { _ in DeviceToken(bytes: randomness.fill(32)) }
  }

  /// Names below apple.com, and Apple's network.
  private static func isApple(_ host: String) -> Bool {
    let name = host.lowercased().drop { $0 == "[" }
    let isBelow = "." + name
    return isBelow.hasSuffix(".apple.com") || isBelow.hasSuffix(".apple.com.") || isNetwork(host)
  }

  /// 17.0.0.0/8 is Apple's.
  private static func isNetwork(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.first == "17" && parts.allSatisfy { UInt8($0) != nil }
  }
}
