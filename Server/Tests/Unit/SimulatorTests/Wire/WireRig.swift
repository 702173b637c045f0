import EventLoop
import HTTP2Connections
import PabalPrimitives
import Simulator
import TestSupport

/// The stand-in's service on the scripted network, below TLS, with one device, and clients made of bytes.
final class WireRig {
  static let token = [UInt8](repeating: 0xAA, count: 32)
  static let path = "/3/device/" + String(repeating: "aa", count: 32)
  static let topic = "com.example.app"
  static let body = #"{"aps":{"alert":"hello"}}"#

  let loop: ScriptedLoop
  let core: Locked<StandInCore>
  let port: UInt16
  private let listener: HTTP2Listener
  private let service: StandInService

  init(seed: UInt64 = 1, _ rules: StandInRules = StandInRules()) throws {
    loop = ScriptedLoop(seed: seed)
    let key = StandInKey(keyID: "KEY1234567", teamID: "TEAM123456", verifies: { _, _ in true })
    var core = StandInCore(
      keys: [key], bundles: [Self.topic], rules: rules, clock: loop.clock, randomness: .seeded(seed),
      digest: { "\($0.utf8.count)" })
    var draft = StandInDeviceDraft(topic: Self.topic)
    (draft.id, draft.token) = ("phone", Self.token)
    _ = try core.addDevice(draft)
    self.core = Locked(core)
    service = StandInService(core: self.core, environment: .sandbox, loop: loop)
    listener = HTTP2Listener(
      loop: loop, tls: nil, configuration: StandInService.configuration(rules), handler: service)
    port = try listener.listen(on: Endpoint(host: "127.0.0.1", port: 0))
  }

  func end() { loop.end() }

  /// What a control call would have done on connections.
  func perform(_ actions: [StandInAction]) { service.perform(actions) }

  /// A connected client that has said nothing yet.
  func dial(_ port: UInt16? = nil) -> RawPeer {
    let peer = RawPeer()
    peer.channel = loop.connect(to: Endpoint(host: "127.0.0.1", port: port ?? self.port), handler: peer)
    loop.runUntilIdle()
    return peer
  }

  /// A client past the preface and both SETTINGS.
  func open(_ port: UInt16? = nil) -> RawPeer {
    let peer = dial(port)
    peer.send(RawFrame.preface + RawFrame.settings().bytes)
    loop.runUntilIdle()
    return peer
  }

  /// The fields of a good push.
  var push: [(String, String)] {
    let head = Base64URL.encode(Array(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"TEAM123456","iat":1800000000}"#.utf8))
    let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))
    return [
      (":method", "POST"), (":scheme", "https"), (":path", Self.path), (":authority", "localhost"),
      ("authorization", "bearer \(head).\(claims).\(signature)"), ("apns-topic", Self.topic),
      ("apns-push-type", "alert"),
    ]
  }

  /// A good push with one field changed, or left out.
  func push(_ name: String, _ value: String?) -> [(String, String)] {
    push.compactMap { $0.0 == name ? value.map { (name, $0) } : $0 }
  }

  /// What the stand-in replied to a stream, by its own log.
  func status(_ stream: UInt32) -> Int? {
    core.withLock { $0.requests(after: 0, limit: 10_000) { $0.stream == Int32(stream) } }.last?.status
  }

  /// Whether a good push on this connection is answered 200.
  func answers(_ peer: RawPeer, on stream: UInt32) -> Bool {
    peer.send(.headers(stream, push), .data(stream, Self.body))
    loop.runUntilIdle()
    return peer.isGood(stream)
  }
}

/// A client that knows no HTTP/2: it writes what it is told, keeps what comes, and acknowledges SETTINGS.
final class RawPeer: ByteChannelHandler {
  var channel: (any ByteChannel)?
  private var input: [UInt8] = []
  private(set) var frames: [RawFrame] = []
  private(set) var isClosed = false
  var acknowledges = true

  func send(_ frames: RawFrame...) { send(frames.flatMap(\.bytes)) }

  func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { channel?.write($0) } }

  func channelDidConnect() {}
  func channelDidFlush(totalBytesTaken: UInt64) {}

  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) {
    input += bytes
    while let frame = RawFrame.take(from: &input) {
      frames.append(frame)
      if acknowledges, frame.type == RawFrame.Kind.settings, frame.flags == 0 {
        send(RawFrame(type: RawFrame.Kind.settings, flags: RawFrame.acknowledges))
      }
    }
  }

  func channelDidClose(_ error: ChannelError?) {
    isClosed = true
    channel = nil
  }

  /// The code of the first GOAWAY.
  var goaway: UInt32? {
    frames.first { $0.type == RawFrame.Kind.goaway }.map { RawFrame.number(at: 4, of: $0.payload) }
  }

  func reset(_ stream: UInt32) -> UInt32? {
    frames.first { $0.type == RawFrame.Kind.reset && $0.stream == stream }.map {
      RawFrame.number(at: 0, of: $0.payload)
    }
  }

  /// Whether a stream's reply is whole.
  func isAnswered(_ stream: UInt32) -> Bool { head(stream) != nil && end(of: stream) }

  /// Whether it is 200: the static table's index 8 (RFC 7541 appendix A), which ours always sends first.
  func isGood(_ stream: UInt32) -> Bool { isAnswered(stream) && head(stream)?.first == 0x88 }

  private func head(_ stream: UInt32) -> [UInt8]? {
    frames.first { $0.type == RawFrame.Kind.headers && $0.stream == stream }?.payload
  }

  private func end(of stream: UInt32) -> Bool {
    frames.contains { $0.stream == stream && $0.type <= 1 && $0.flags & RawFrame.endStream != 0 }
  }
}
