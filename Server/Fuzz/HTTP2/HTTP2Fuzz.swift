import HTTP2
import PabalPrimitives

/// Frames of a client, in pieces, into a server session that answers each request.
enum HTTP2Fuzz {
  private static let streams = 8
  // Small enough for inputs of some kilobytes to get beyond them.
  private static let bodyBytes = 1024
  private static let flood = FloodBudget(burst: 100)
  private static let requestTime = Duration.milliseconds(20)
  /// More than this for inputs of some kilobytes would be amplification.
  private static let outputBytes = 1024 * 1024
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let emptySettings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// The first byte says how long the pieces are; the preface and SETTINGS are put before what does not have them.
  static func run(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    var input = Array(bytes.dropFirst())
    if !input.starts(with: preface) { input = preface + emptySettings + input }
    let session = try HTTP2ServerSession(maxConcurrentStreams: streams, requestBodyLimit: bodyBytes, flood: flood)
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
      session.endIfOverdue(now: now, requestTime: requestTime, answerTime: requestTime)
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

    /// The last character of the path says what the service does besides answering, so that the input decides it.
    func sessionReceivedRequest(_ request: HTTP2ServerRequest) {
      let path = request.headers.string(":path") ?? ""
      var endStream = true
      switch path.last {
      case "1": session.inform(stream: request.stream, status: 103, headers: [("apns-id", "1")])
      case "2": return session.reset(stream: request.stream, code: .refusedStream)
      case "3": session.goaway(lastStreamID: nil, code: .noError, debug: Array(path.utf8))
      case "4": session.setMaxConcurrentStreams(1)
      case "5": session.setHeaderTable(bytes: [0, 4096])
      case "6": session.ping()
      case "7": endStream = false
      default: break
      }
      let body = request.bodyOverflowed ? Array("{\"reason\":\"PayloadTooLarge\"}".utf8) : request.body
      session.respond(
        stream: request.stream, status: request.bodyOverflowed ? 413 : 200, headers: [("apns-id", "1")], body: body,
        endStream: endStream)
    }

    func sessionStreamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
    func sessionReceivedPing() {}
  }
}
