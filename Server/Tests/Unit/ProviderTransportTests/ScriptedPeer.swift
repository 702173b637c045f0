import APNs
import Cryptography
import Delivery
import EventLoop
import HTTP2
import HTTP2Connections
import PabalModel
import PabalPrimitives
import ProviderTransport
import TestSupport

/// An HTTP/2 server in virtual time that does what a test tells it, and remembers what it saw.
final class ScriptedPeer: HTTP2ServerHandler {
  struct Request {
    /// Counted from 1.
    let connection: Int
    /// Counted from 1 over all connections.
    let number: Int
    let stream: Int32
    let path: String
    let apnsID: String
    let topic: String
    let authorization: String
    let body: [UInt8]
  }

  /// What to do with a request.
  var script: (Request, HTTP2ServerConnection) -> Void = { request, connection in
    connection.respond(stream: request.stream, status: 200, headers: [("apns-id", request.apnsID)], body: [])
  }
  /// Called when a connection is up, with its number.
  var welcome: (Int, HTTP2ServerConnection) -> Void = { _, _ in }
  private(set) var requests: [Request] = []
  private(set) var connections: [HTTP2ServerConnection] = []
  private(set) var pings = 0
  private(set) var resets = 0

  func connectionOpened(_ connection: HTTP2ServerConnection) {
    connections.append(connection)
    welcome(connections.count, connection)
  }

  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    let seen = Request(
      connection: 1 + (connections.firstIndex { $0 === connection } ?? -1), number: requests.count + 1,
      stream: request.stream, path: request.headers.string(":path") ?? "",
      apnsID: request.headers.string("apns-id") ?? "", topic: request.headers.string("apns-topic") ?? "",
      authorization: request.headers.string("authorization") ?? "", body: request.body)
    requests.append(seen)
    script(seen, connection)
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {
    if code == .cancel { resets += 1 }
  }

  func pingReceived(on connection: HTTP2ServerConnection) { pings += 1 }
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {}

  /// How often a push came over the wire.
  func count(_ push: APNsPush) -> Int {
    requests.count { $0.apnsID == push.apnsID.description }
  }
}

extension HTTP2ServerConnection {
  func accept(_ request: ScriptedPeer.Request) {
    respond(stream: request.stream, status: 200, headers: [("apns-id", request.apnsID)], body: [])
  }

  func refuse(_ request: ScriptedPeer.Request, _ status: Int, _ reason: String) {
    respond(
      stream: request.stream, status: status, headers: [("apns-id", request.apnsID)],
      body: Array(#"{"reason":"\#(reason)"}"#.utf8))
  }
}

/// The transport against a scripted peer, in virtual time.
final class TransportRig {
  let loop: ScriptedLoop
  let peer = ScriptedPeer()
  let core: TransportCore
  let sink = Outcomes()
  private(set) var proxy: TunnelProxy?
  private let listener: HTTP2Listener
  private var batches: UInt64 = 0
  private var made: UInt64 = 0
  private let randomness = Randomness.seeded(11)

  init(
    seed: UInt64 = 1, network: ScriptedNetwork = .init(), streams: Int = 1000, windows: Int = 1 << 20,
    proxy manner: TunnelProxy.Manner? = nil, credentials: ProxyEndpoint.Credentials? = nil,
    _ change: (inout APNsTransportConfiguration) -> Void = { _ in }
  ) throws {
    let loop = ScriptedLoop(seed: seed, network: network)
    self.loop = loop
    listener = HTTP2Listener(
      loop: loop, tls: nil,
      configuration: HTTP2ServerConfiguration(
        maxConcurrentStreams: streams, connectionWindow: windows, streamWindow: windows), handler: peer)
    let port = try listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))
    var configuration = APNsTransportConfiguration(
      endpoint: Endpoint(host: "127.0.0.1", port: port), tls: nil,
      credential: try APNsCredential(teamID: "TEAM123456", keyID: "KEY1234567", signingKey: .generate()),
      clock: loop.clock, randomness: .seeded(seed))
    if let manner {
      let proxy = TunnelProxy(loop: loop, manner: manner)
      self.proxy = proxy
      configuration.proxy = ProxyEndpoint(
        endpoint: Endpoint(host: "127.0.0.1", port: try proxy.listen()), credentials: credentials)
    }
    change(&configuration)
    core = TransportCore(configuration: configuration, loop: loop)
  }

  /// What a test's script holds, and what is still open, keeps itself alive in a circle.
  func end() {
    loop.end()
    peer.script = { _, _ in }
    peer.welcome = { _, _ in }
    loop.onConnect = { _ in }
    proxy?.stop()
  }

  func push(
    topic: String = "com.example.a", within: Duration? = nil, collapseID: String? = nil, attemptLimit: Int = 4,
    bytes: Int? = nil
  ) throws -> APNsPush {
    made += 1
    let head = try APNsHead(topic: Topic(rawValue: topic), pushType: .alert, collapseID: collapseID)
    guard let token = DeviceToken(bytes: randomness.fill(32)) else { preconditionFailure("32 bytes are a token") }
    let text = bytes.map { String(repeating: "x", count: $0 - #"{"aps":{"alert":""}}"#.utf8.count) } ?? "hello"
    return APNsPush(
      tag: made,
      request: APNsRequest(
        token: token, head: head,
        payload: try APNsPayload(checking: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), for: .alert)),
      apnsID: APNsID(random: randomness),
      expiresAt: within.map { loop.clock.wall().advanced(by: $0) },
      attemptLimit: attemptLimit)
  }

  func pushes(_ count: Int) throws -> [APNsPush] {
    try (0..<count).map { _ in try push() }
  }

  @discardableResult
  func send(_ pushes: [APNsPush]) -> UInt64 {
    batches += 1
    core.take(PushBatch(pushes), id: batches, for: sink)
    return batches
  }

  /// Sends and runs until all are answered, or a quarter of an hour has passed.
  func sendAndWait(_ pushes: [APNsPush]) -> [APNsOutcome] {
    let before = sink.outcomes.count
    send(pushes)
    run(for: .seconds(900)) { self.sink.outcomes.count == before + pushes.count }
    return Array(sink.outcomes[before...])
  }

  /// Runs until `condition` holds or the time is over.
  func run(for duration: Duration, until condition: () -> Bool = { false }) {
    _ = loop.run(until: condition, within: duration)
  }

  func outcome(_ push: APNsPush) -> APNsOutcome? {
    sink.outcomes.first { $0.tag == push.tag }
  }
}

final class Outcomes: OutcomeSink {
  let wantsChunks = true
  private let state = Locked<[APNsOutcome]>([])

  var outcomes: [APNsOutcome] { state.withLock { $0 } }

  func deliver(_ outcomes: [APNsOutcome]) {
    state.withLock { $0 += outcomes }
  }

  func clear() {
    state.withLock { $0 = [] }
  }
}
