import EventLoop
import PabalPrimitives

/// The way through an HTTP proxy: CONNECT, and its answer (RFC 9110 section 9.3.6, RFC 9112).
///
/// Everything after the empty line of a 2xx answer belongs to the tunnel. Interim answers (1xx) are passed over. What
/// is not HTTP/1.x is seen at its first wrong byte, so that a wrong port is an error at once and not a dial timeout.
struct ConnectTunnelMachine: Sendable {
  /// The head of a proxy's answer; those with pages of policy send them as a body, which is not read.
  static let answerBytes = 16 * 1024

  enum Event: Sendable {
    /// TCP to the proxy is up.
    case connected
    case received([UInt8])
    /// TCP ended.
    case ended
  }

  enum Action: Sendable {
    case send([UInt8])
    /// The tunnel is open, and these bytes came through it already.
    case open(rest: [UInt8])
    case fail(HTTP2ConnectionError)
  }

  private enum State {
    /// Can transition to: asked.
    case idle
    /// Can transition to: over.
    case asked
    case over
  }

  private let proxy: ProxyEndpoint
  private let target: Endpoint
  private var state = State.idle
  private var head: [UInt8] = []

  init(proxy: ProxyEndpoint, target: Endpoint) {
    self.proxy = proxy
    self.target = target
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch (state, event) {
    case (.idle, .connected):
      state = .asked
      return [.send(Array(request.utf8))]
    case (.asked, .received(let bytes)):
      head += bytes
      return read()
    case (.asked, .ended):
      return fail(.proxyNotSpoken, "The proxy \(proxy) closed the connection without an answer to CONNECT.")
    case (.idle, _), (.asked, .connected), (.over, _):
      return []
    }
  }

  private var request: String {
    var lines = ["CONNECT \(target) HTTP/1.1", "Host: \(target)"]
    if let credentials = proxy.credentials {
      let pair = Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
      lines.append("Proxy-Authorization: Basic \(pair)")
    }
    return lines.map { $0 + "\r\n" }.joined() + "\r\n"
  }

  private mutating func read() -> [Action] {
    while true {
      guard zip(head, "HTTP/1.".utf8).allSatisfy(==) else {
        return fail(.proxyNotSpoken, "What listens at \(proxy) is no HTTP proxy; check the proxy's host and port.")
      }
      guard let end = endOfHead else {
        guard head.count <= Self.answerBytes else {
          return fail(.proxyNotSpoken, "The proxy \(proxy) answered CONNECT with more than \(Self.answerBytes) bytes.")
        }
        return []
      }
      guard let status = status(of: head) else {
        return fail(.proxyNotSpoken, "The proxy \(proxy) answered CONNECT with a line that has no status.")
      }
      switch status {
      case 100...199: head.removeFirst(end)
      case 200...299:
        state = .over
        return [.open(rest: Array(head[end...]))]
      default: return refuse(status)
      }
    }
  }

  /// After the empty line. RFC 9112 section 2.2 lets a recipient take a bare LF for the end of a line.
  private var endOfHead: Int? {
    var lineIsEmpty = false
    for (index, byte) in head.enumerated() {
      switch byte {
      case UInt8(ascii: "\n"):
        if lineIsEmpty { return index + 1 }
        lineIsEmpty = true
      case UInt8(ascii: "\r"): break
      default: lineIsEmpty = false
      }
    }
    return nil
  }

  /// `HTTP/1.1 200 …`: the three digits after the first blank.
  private func status(of head: [UInt8]) -> Int? {
    guard let blank = head.firstIndex(of: UInt8(ascii: " ")), blank + 4 < head.count else { return nil }
    let digits = head[blank + 1...blank + 3]
    let after = head[blank + 4]
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      [UInt8(ascii: " "), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(after)
    else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private mutating func refuse(_ status: Int) -> [Action] {
    let remedy =
      switch status {
      case 407 where proxy.credentials == nil:
        "it wants credentials: write the proxy as http://user:password@host:port."
      case 407: "it does not accept the user and password."
      case 403: "it does not allow \(target); ask whoever runs it to allow HTTPS to that host and port."
      case 500...599: "it could not reach \(target)."
      default: "check that it allows tunnels with CONNECT."
      }
    return fail(.proxyRefused(status: status), "The proxy \(proxy) answered \(status): \(remedy)")
  }

  private mutating func fail(_ kind: HTTP2ConnectionError.Kind, _ message: String) -> [Action] {
    state = .over
    head = []
    return [.fail(HTTP2ConnectionError(kind, message: message))]
  }
}
