package import EventLoop
import PabalPrimitives

/// An HTTP proxy for CONNECT on any loop, or something that is none. On its loop's thread only.
package final class TunnelProxy {
  package enum Manner: Sendable {
    /// Opens tunnels; with credentials (`user:password`) only to those who give them.
    case tunnels(credentials: String? = nil)
    /// Says this and nothing else.
    case says(String)
    /// Takes the connection and never answers.
    case silent
    /// Closes the connection when it has been asked.
    case hangsUp
  }

  private let loop: any Loop
  private let manner: Manner
  private var listener: (any ByteListener)?
  /// The heads of the requests it was sent.
  package private(set) var requests: [String] = []

  package init(loop: any Loop, manner: Manner) {
    self.loop = loop
    self.manner = manner
  }

  package func listen(on endpoint: Endpoint = Endpoint(host: "127.0.0.1", port: 0)) throws -> UInt16 {
    let listener = try loop.listen(on: endpoint) { [unowned self] channel in
      let side = TunnelSide(proxy: self)
      side.channel = channel
      return side
    }
    self.listener = listener
    return listener.port
  }

  package func stop() {
    listener?.close()
    listener = nil
  }

  /// The answer to a head, and where the tunnel goes.
  fileprivate func answer(_ head: String) -> (text: String, target: Endpoint?)? {
    requests.append(head)
    switch manner {
    case .says(let text): return (text, nil)
    case .silent: return nil
    case .hangsUp: return ("", nil)
    case .tunnels(let credentials):
      let words = head.split(separator: " ", maxSplits: 2)
      let place = words.count > 1 ? words[1].split(separator: ":") : []
      guard words.first == "CONNECT", place.count == 2, let port = UInt16(place[1]) else {
        return ("HTTP/1.1 400 Bad Request\r\n\r\n", nil)
      }
      if let credentials, !head.contains("Basic \(Base64.encode(Array(credentials.utf8)))\r\n") {
        return ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n", nil)
      }
      return ("HTTP/1.1 200 Connection established\r\n\r\n", Endpoint(host: String(place[0]), port: port))
    }
  }

  fileprivate func dial(_ target: Endpoint, _ handler: any ByteChannelHandler) -> any ByteChannel {
    loop.connect(to: target, handler: handler)
  }
}

/// One end of a tunnel; the other one gets what this one receives.
private final class TunnelSide: ByteChannelHandler {
  private weak var proxy: TunnelProxy?
  var channel: (any ByteChannel)?
  private var other: TunnelSide?
  private var head: [UInt8] = []
  private var greeting = ""
  private var isTunnel = false

  init(proxy: TunnelProxy?) {
    self.proxy = proxy
  }

  func channelDidConnect() {
    guard let other else { return }
    other.say(greeting)
    other.isTunnel = true
  }

  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) {
    if isTunnel || proxy == nil {
      other?.channel?.write(bytes)
      return
    }
    head += bytes
    guard head.suffix(4) == [13, 10, 13, 10], let proxy else { return }
    guard let (text, target) = proxy.answer(String(decoding: head, as: UTF8.self)) else { return }
    guard let target else {
      say(text)
      channel?.close()
      return
    }
    let far = TunnelSide(proxy: nil)
    far.other = self
    far.greeting = text
    other = far
    far.channel = proxy.dial(target, far)
  }

  private func say(_ text: String) {
    Array(text.utf8).withUnsafeBytes { channel?.write($0) }
  }

  func channelDidFlush(totalBytesTaken: UInt64) {}

  func channelDidClose(_ error: ChannelError?) {
    if error == nil { other?.channel?.close() } else { other?.channel?.abort() }
    channel = nil
    other?.other = nil
    other = nil
  }
}
