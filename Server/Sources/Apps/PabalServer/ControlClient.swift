import EventLoop
import PabalPrimitives

/// Calls the stand-in's control API: HTTP/1.1, one connection a call.
struct ControlClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    var contentType: String?
    let body: [UInt8]
  }

  let endpoint: Endpoint
  let loop: any Loop

  /// A stand-in answers in well under a second, on a machine that is busy with ten builds in several.
  private static let timeout = Duration.seconds(15)
  /// A page of 1,000 devices has about 200 KB.
  fileprivate static let answerBytes = 4 * 1_024 * 1_024

  /// - Parameter path: percent-encoded, with its query.
  func call(_ method: StaticString, _ path: String, _ body: JSONValue? = nil) async throws(UpError) -> Answer {
    try await send(
      "\(method)", path, body: body?.encoded ?? [], contentType: body == nil ? nil : "application/json",
      timeout: Self.timeout)
  }

  /// Neither `path` nor `contentType` may hold a control character.
  func send(
    _ method: String, _ path: String, body: [UInt8], contentType: String?, timeout: Duration
  ) async throws(UpError) -> Answer {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(endpoint)\r\nConnection: close\r\n"
    if let contentType { head += "Content-Type: \(contentType)\r\n" }
    head += "Content-Length: \(body.count)\r\n\r\n"
    let request = Array(head.utf8) + body
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Answer, UpError>, Never>) in
      loop.execute { [loop, endpoint] in
        let exchange = ControlExchange { done.resume(returning: $0) }
        let channel = loop.connect(to: endpoint, handler: exchange)
        request.withUnsafeBytes { channel.write($0) }
        exchange.timer = loop.schedule(after: timeout) {
          exchange.fail("did not answer within \(timeout)")
          channel.abort()
        }
        exchange.stopTimer = { loop.cancel($0) }
      }
    }
    return try result.get()
  }
}

/// One call on its way. On its loop's thread only.
private final class ControlExchange: ByteChannelHandler {
  private let done: (Result<ControlClient.Answer, UpError>) -> Void
  private var isDone = false
  private var received: [UInt8] = []
  var timer: TimerID?
  var stopTimer: (TimerID) -> Void = { _ in }

  init(done: @escaping (Result<ControlClient.Answer, UpError>) -> Void) {
    self.done = done
  }

  func channelDidConnect() {}
  func channelDidFlush(totalBytesTaken: UInt64) {}

  func channelDidReceive(_ bytes: UnsafeRawBufferPointer) {
    guard received.count + bytes.count <= ControlClient.answerBytes else { return fail("answered too much") }
    received += bytes
  }

  func channelDidClose(_ error: ChannelError?) {
    if let answer = Self.parse(received) {
      finish(.success(answer))
    } else {
      fail("did not answer", cause: error)
    }
  }

  func fail(_ what: String, cause: (any Error)? = nil) {
    finish(
      .failure(
        UpError(.simulator, "The stand-in's control API \(what). Check that the simulator runs.", cause: cause)))
  }

  private func finish(_ result: Result<ControlClient.Answer, UpError>) {
    guard !isDone else { return }
    isDone = true
    if let timer { stopTimer(timer) }
    done(result)
  }

  /// A complete answer with a known length; `nil` for anything else.
  private static func parse(_ bytes: [UInt8]) -> ControlClient.Answer? {
    let separator = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    let body = Array(bytes[(end + separator.count)...])
    guard let length = value(of: "content-length", in: lines).flatMap({ Int($0) }) else {
      return status == 204 ? ControlClient.Answer(status: status, body: []) : nil
    }
    guard body.count >= length else { return nil }
    return ControlClient.Answer(
      status: status, contentType: value(of: "content-type", in: lines), body: Array(body[..<length]))
  }

  private static func value(of name: String, in lines: [Substring]) -> String? {
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == name { return String(parts[1].drop { $0 == " " }) }
    }
    return nil
  }
}
