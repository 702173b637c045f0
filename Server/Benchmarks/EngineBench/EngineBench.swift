import APNs
import Cryptography
import Delivery
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import TLS

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Sends N pushes through the engine and prints one JSON line; `Benchmarks/run` weighs the process.
@main struct EngineBench {
  static func main() async {
    do {
      let options = try BenchOptions(CommandLine.arguments.dropFirst())
      let report = try await run(options)
      print(String(decoding: report.encoded, as: UTF8.self))
      guard report.isClean else { exit(1) }
    } catch {
      let line = Array("EngineBench: \(error)\n".utf8)
      _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
      exit(2)
    }
  }

  private static func run(_ options: BenchOptions) async throws -> BenchReport {
    let pushes = try makePushes(options)
    let credential = try APNsCredential(
      teamID: "BENCHTEAM1", keyID: "BENCHKEY12", signingKey: P256SigningKey.generate())
    let trust = TLSTrust.authorities(pem: try readFile(options.authority))
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: options.host, port: options.port), tls: try TLSClientContext(trust: trust),
      credential: credential)
    configuration.concurrency = options.inFlight
    configuration.pool.connections = options.connections
    configuration.pool.dialsMaximum = 4
    let loop = try UVLoop()
    let transport = APNsTransport(configuration: configuration, loop: loop)
    let started = Clock.system.monotonic()
    let report = await send(pushes, options, over: transport)
    let seconds = started.duration(to: Clock.system.monotonic())
    let statistics = await transport.statistics()
    await transport.shutdown()
    loop.stop()
    return report.finished(after: seconds, connections: statistics.connectionsDialed)
  }

  /// Each task takes the next batch as soon as its last one is answered.
  private static func send(
    _ pushes: [APNsPush], _ options: BenchOptions, over transport: APNsTransport
  ) async -> BenchReport {
    let next = Locked(0)
    return await withTaskGroup(of: BenchReport.self) { group in
      for _ in 0..<options.tasks {
        group.addTask {
          var report = BenchReport()
          while true {
            let range = next.withLock { next -> Range<Int> in
              let start = next
              next = min(pushes.count, next + options.batch)
              return start..<next
            }
            guard !range.isEmpty else { return report }
            report.count(await transport.send(Array(pushes[range])))
          }
        }
      }
      return await group.reduce(into: BenchReport()) { $0.add($1) }
    }
  }

  private static func makePushes(_ options: BenchOptions) throws -> [APNsPush] {
    let head = try APNsHead(
      topic: Topic(rawValue: "com.example.talentmarket"), pushType: .alert,
      expiration: .at(WallTime(seconds: 1_900_000_000)))
    let payload = try APNsPayload(checking: try readFile(options.payload), for: .alert)
    // All are made whatever the count is: so two runs differ by the pushes sent and by nothing else.
    let tokens = try readFile(options.tokens).split(separator: UInt8(ascii: "\n")).map {
      try DeviceToken(parsing: String(decoding: $0, as: UTF8.self))
    }
    guard tokens.count >= options.count else { throw BenchFault("\(options.tokens) has only \(tokens.count) tokens") }
    let randomness = Randomness.seeded(1)
    let pushes = tokens.enumerated().map { index, token in
      APNsPush(
        tag: UInt64(index), request: APNsRequest(token: token, head: head, payload: payload),
        apnsID: APNsID(random: randomness))
    }
    return Array(pushes.prefix(options.count))
  }

  private static func readFile(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw BenchFault("cannot open \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { return bytes }
      bytes += chunk.prefix(count)
    }
  }
}

struct BenchFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
