import EventLoop
import HTTP2
import HTTP2Connections

/// A server made of closures.
final class ServerEar: HTTP2ServerHandler {
  var opened: (HTTP2ServerConnection) -> Void = { _ in }
  var head: (HTTP2ServerRequest, HTTP2ServerConnection) -> Void = { _, _ in }
  var request: (HTTP2ServerRequest, HTTP2ServerConnection) -> Void = { request, connection in
    connection.respond(
      stream: request.stream, status: 200,
      headers: [("apns-id", request.headers.string("apns-id") ?? "")], body: [])
  }
  var closed: (HTTP2ServerConnection, HTTP2ConnectionError) -> Void = { _, _ in }

  /// Breaks circles through what the closures hold.
  func end() {
    opened = { _ in }
    head = { _, _ in }
    request = { _, _ in }
    closed = { _, _ in }
  }

  func connectionOpened(_ connection: HTTP2ServerConnection) { opened(connection) }
  func requestHeadReceived(_ head: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    self.head(head, connection)
  }
  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    self.request(request, connection)
  }
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {
    closed(connection, error)
  }
}

let template = HTTP2HeaderTemplate(
  authority: "localhost", headers: [("apns-topic", "com.example.app")], uniqueHeader: "apns-id")

extension HTTP2ClientConnection {
  func submit(_ tag: UInt64, body: [UInt8] = Array("{}".utf8)) {
    submit(
      template: template, path: Array("/3/device/\(tag)".utf8), unique: Array("id-\(tag)".utf8), body: body, tag: tag)
  }
}

/// What a client was told, in order.
final class ClientEar {
  enum Note: Equatable {
    case ready(Int)
    case maxConcurrentStreams(Int)
    case written([UInt64])
    case response(UInt64, Int)
    case plainResponses([UInt64])
    case reset(UInt64, HTTP2ErrorCode)
    case unprocessed([UInt64])
    case goaway(Int32, HTTP2ErrorCode, String)
    case exhausted
    case pong
    case windowOpened
    case closed(HTTP2ConnectionError.Kind, lost: [UInt64], unsent: [UInt64])
  }

  var notes: [Note] = []
  var onNote: (Note) -> Void = { _ in }

  var responses: [UInt64] {
    notes.compactMap { if case .response(let tag, _) = $0 { tag } else { nil } }
  }

  var unprocessed: [UInt64] {
    notes.flatMap { if case .unprocessed(let tags) = $0 { tags } else { [] as [UInt64] } }
  }

  var end: Note? {
    notes.first { if case .closed = $0 { true } else { false } }
  }

  func hear(_ event: HTTP2ClientEvent) {
    let note: Note =
      switch event {
      case .ready(let count): .ready(count)
      case .maxConcurrentStreams(let count): .maxConcurrentStreams(count)
      case .written(let tags): .written(tags)
      case .response(let tag, let response): .response(tag, response.status)
      case .plainResponses(let tags): .plainResponses(tags)
      case .reset(let tag, let code, _): .reset(tag, code)
      case .unprocessed(let tags): .unprocessed(tags)
      case .goaway(let last, let code, let debug): .goaway(last, code, String(decoding: debug, as: UTF8.self))
      case .streamIDsExhausted: .exhausted
      case .pong: .pong
      case .windowOpened: .windowOpened
      case .closed(let error, let lost, let unsent): .closed(error.kind, lost: lost, unsent: unsent)
      }
    notes.append(note)
    onNote(note)
  }
}
