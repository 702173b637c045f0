import Cryptography
import PabalPrimitives
import Simulator

/// A core with one sandbox device, a moved clock and real keys; requests are written by hand.
struct PushBench {
  static let token: [UInt8] = Array(repeating: 0xAA, count: 32)
  static let hex = String(repeating: "aa", count: 32)
  static let topic = "com.example.app"
  static let team = "TEAM123456"

  let clock = ManualClock(wall: WallTime(milliseconds: 1_800_000_000_000))
  let signer: P256SigningKey
  let other: P256SigningKey
  var core: StandInCore
  var connection: StandInConnectionID
  let device: StandInDevice
  /// One provider token, used by every push that names no other.
  private(set) var usual = ""
  private var stream: Int32 = -1

  init(_ rules: StandInRules = StandInRules(), further: [StandInKey] = []) throws {
    signer = try P256SigningKey.generate()
    other = try P256SigningKey.generate()
    core = StandInCore(
      keys: [Self.key("KEY1234567", signer), Self.key("KEY7654321", other)] + further, bundles: [Self.topic],
      rules: rules, clock: clock.clock, randomness: .seeded(7), digest: Self.digest)
    var draft = StandInDeviceDraft(topic: Self.topic)
    draft.id = "phone"
    draft.token = Self.token
    device = try core.addDevice(draft)
    connection = core.connectionOpened(.sandbox)
    usual = try bearer()
  }

  static func digest(_ text: String) -> String {
    do { return Hex.encode(try SHA256.hash(Array(text.utf8))) } catch { return "none" }
  }

  static func key(
    _ id: String, _ key: P256SigningKey, team: String = PushBench.team, scope: StandInKey.Scope = .team
  ) -> StandInKey {
    StandInKey(keyID: id, teamID: team, scope: scope) { message, signature in
      key.publicKey.isValid(signature: signature, for: message)
    }
  }

  /// A provider token, made apart from any product code.
  func bearer(
    kid: String = "KEY1234567", team: String = PushBench.team, iat: String? = nil, alg: String = "ES256",
    by key: P256SigningKey? = nil
  ) throws -> String {
    let issued = iat ?? "\(clock.clock.wall().seconds)"
    let head = Base64URL.encode(Array(#"{"alg":"\#(alg)","kid":"\#(kid)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8))
    let signature = try (key ?? signer).sign(Array("\(head).\(claims)".utf8))
    return "bearer \(head).\(claims).\(Base64URL.encode(signature))"
  }

  /// Sends one push: a good one, changed by `change`.
  @discardableResult
  mutating func send(
    authorization: String? = nil, on other: StandInConnectionID? = nil, _ change: (inout PushCall) -> Void = { _ in }
  ) throws -> Answer {
    var call = PushCall(path: "/3/device/\(Self.hex)", authorization: authorization ?? usual)
    change(&call)
    stream += 2
    let actions = core.handle(
      StandInRequest(
        connection: other ?? connection, stream: stream, headers: call.headers, body: call.body,
        bodyWasCut: call.bodyWasCut))
    return Answer(actions: actions, stream: stream)
  }

  var inbox: [StandInPush] { core.device(id: "phone")?.pushes ?? [] }
}

/// The lines of a request.
struct PushCall {
  var method = "POST"
  var path: String
  var authorization: String?
  var topic: String? = PushBench.topic
  var pushType: String? = "alert"
  var id: String?
  var expiration: String?
  var priority: String?
  var collapseID: String?
  var further: [StandInHeader] = []
  var body = Array(#"{"aps":{"alert":"hello"}}"#.utf8)
  var bodyWasCut = false

  var headers: [StandInHeader] {
    var headers = [
      StandInHeader(":method", method), StandInHeader(":scheme", "https"), StandInHeader(":path", path),
      StandInHeader(":authority", "localhost"),
    ]
    let named = [
      ("authorization", authorization), ("apns-topic", topic), ("apns-push-type", pushType), ("apns-id", id),
      ("apns-expiration", expiration), ("apns-priority", priority), ("apns-collapse-id", collapseID),
    ]
    for (name, value) in named {
      if let value { headers.append(StandInHeader(name, value)) }
    }
    return headers + further
  }
}

/// What a request brought about.
struct Answer {
  let actions: [StandInAction]
  let stream: Int32

  /// The reply, also one that comes later.
  var reply: StandInReply? { Self.reply(in: actions) }
  var status: Int? { reply?.status }

  var json: JSONSlice? {
    guard let body = reply?.body, !body.isEmpty else { return nil }
    do { return try JSONSlice(parsing: body) } catch { return nil }
  }

  var reason: String? { json?["reason"]?.string }
  var timestamp: Int? { json?["timestamp"]?.int }

  func header(_ name: String) -> String? { reply?.headers.first { $0.name == name }?.value }

  var streamLimit: Int? {
    for case .streamLimit(_, let count) in actions { return count }
    return nil
  }

  private static func reply(in actions: [StandInAction]) -> StandInReply? {
    for action in actions {
      if case .reply(_, _, let reply) = action { return reply }
      if case .later(_, let inner) = action, let reply = reply(in: inner) { return reply }
    }
    return nil
  }
}
