import HTTP2
import PabalPrimitives

/// Frames of a client, in pieces, into a server session that answers each request.
enum HTTP2Fuzz {
  private static let streams = 8
  /// More than this for inputs of some kilobytes would be amplification.
  private static let outputBytes = 1024 * 1024
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let emptySettings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// The first byte says how long the pieces are; the preface and SETTINGS are put before what does not have them.
  static func run(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    var input = Array(bytes.dropFirst())
    if !input.starts(with: preface) { input = preface + emptySettings + input }
    let session = try HTTP2ServerSession(maxConcurrentStreams: streams)
    let answerer = Answerer(session)
    session.delegate = answerer
    defer { session.delegate = nil }
    let piece = first == 0 ? input.count : Int(first)
    var now = Instant.zero
    for start in stride(from: 0, to: input.count, by: piece) {
      let end = min(start + piece, input.count)
      do {
        try input[start..<end].withUnsafeBytes { try session.receive($0, now: now) }
        try drain(session, answerer)
      } catch is HTTP2SessionError {
        try drain(session, answerer)
        return
      }
      if session.isFinished { return }
      now = now.advanced(by: .milliseconds(1))
    }
    try demand(session.openStreams >= 0, "streams are counted")
  }

  private static func drain(_ session: HTTP2ServerSession, _ answerer: Answerer) throws {
    do {
      try session.drain { answerer.sent += $0.count }
    } catch is HTTP2SessionError {
      return
    }
    try demand(answerer.sent <= outputBytes, "a client cannot make the server say a megabyte")
    try demand(session.openStreams <= streams + answerer.opened, "no stream is open that nobody opened")
  }

  private final class Answerer: HTTP2ServerSessionDelegate {
    private unowned let session: HTTP2ServerSession
    var sent = 0
    var opened = 0

    init(_ session: HTTP2ServerSession) {
      self.session = session
    }

    func sessionReceivedSettings() {}

    func sessionReceivedHead(_ head: HTTP2ServerRequest) {
      opened += 1
      _ = head.headers.fields
    }

    func sessionReceivedRequest(_ request: HTTP2ServerRequest) {
      let body = request.bodyOverflowed ? Array("{\"reason\":\"PayloadTooLarge\"}".utf8) : []
      session.respond(
        stream: request.stream, status: request.bodyOverflowed ? 413 : 200, headers: [("apns-id", "1")], body: body)
    }

    func sessionStreamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
    func sessionReceivedPing() {}
  }
}
