import APNs
import EventLoop
import HTTP2
import HTTP2Connections
import PabalPrimitives

/// The push of a probe: to a token that no device can have.
struct ProbeRequest: Sendable {
  let headers: [(String, String)]
  let apnsID: String

  var path: [UInt8] { Array("/3/device/".utf8) + Hex.digits(of: [UInt8](repeating: 0, count: 32)) }
  var body: [UInt8] { Array(#"{"aps":{"alert":"pabal doctor"}}"#.utf8) }
}

struct ProbeResult: Sendable {
  /// TLS and HTTP/2 came up.
  var isReady = false
  /// From the dial until then.
  var milliseconds: Int64 = 0
  var streams = 0
  var reply: APNsReply?
  var error: HTTP2ConnectionError?
}

/// One connection and at most one request, then the end. On its loop's thread only.
final class ProbeExchange {
  private static let patience = Duration.seconds(15)

  private let loop: any Loop
  private let request: ProbeRequest?
  private let done: (ProbeResult) -> Void
  private var result = ProbeResult()
  private var started = Instant.zero
  private var connection: HTTP2ClientConnection?
  private var deadline: TimerID?
  private let authority: String

  private init(
    _ loop: any Loop, _ authority: String, _ request: ProbeRequest?, done: @escaping (ProbeResult) -> Void
  ) {
    self.loop = loop
    self.authority = authority
    self.request = request
    self.done = done
  }

  static func run(
    _ configuration: HTTP2ClientConfiguration, _ request: ProbeRequest?, on loop: UVLoop
  ) async -> ProbeResult {
    await withCheckedContinuation { continuation in
      loop.execute {
        let exchange = ProbeExchange(loop, configuration.endpoint.description, request) {
          continuation.resume(returning: $0)
        }
        exchange.start(configuration)
      }
    }
  }

  private func start(_ configuration: HTTP2ClientConfiguration) {
    started = loop.now
    // The connection holds the closure until it tells its end, and so this object.
    let connection = HTTP2ClientConnection(loop: loop, configuration: configuration) { self.handle($0) }
    self.connection = connection
    connection.start()
  }

  private func handle(_ event: HTTP2ClientEvent) {
    switch event {
    case .ready(let streams):
      result.isReady = true
      result.streams = streams
      result.milliseconds = started.duration(to: loop.now).milliseconds
      ask()
    case .response(_, let response):
      result.reply = APNsReply.classify(status: response.status, body: response.body)
      connection?.close()
    case .reset, .unprocessed, .goaway: connection?.close()
    case .closed(let error, _, _): finish(error)
    // Plain responses come to those that ask for them.
    case .plainResponses, .maxConcurrentStreams, .written, .streamIDsExhausted, .pong, .windowOpened: break
    }
  }

  private func ask() {
    guard let connection, let request else {
      connection?.close()
      return
    }
    deadline = loop.schedule(after: Self.patience) { connection.abort() }
    let template = HTTP2HeaderTemplate(authority: authority, headers: request.headers, uniqueHeader: "apns-id")
    connection.submit(
      template: template, path: request.path, unique: Array(request.apnsID.utf8), body: request.body, tag: 0)
  }

  private func finish(_ error: HTTP2ConnectionError) {
    if let deadline { loop.cancel(deadline) }
    connection = nil
    result.error = error
    done(result)
  }
}
