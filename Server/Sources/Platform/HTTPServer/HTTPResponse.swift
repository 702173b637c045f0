package import PabalPrimitives

/// A reply's body: all of it, or a stream that the handler keeps on filling.
package enum HTTPBody: Sendable {
  case bytes([UInt8])
  case stream(BodyStream)
}

/// What a handler answers. The server adds `Date`, `Content-Length`, `Pabal-Request-Id`, and `Connection: close`
/// while draining. A header that holds CR, LF or NUL turns the whole reply into a 500.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [HTTPField]
  package var body: HTTPBody

  package init(status: Int, headers: [HTTPField] = [], body: HTTPBody = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A JSON body of known length.
  package static func json(_ status: Int, _ value: JSONValue, headers: [HTTPField] = []) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPField("Content-Type", "application/json")] + headers, body: .bytes(value.encoded))
  }

  /// A text of known length.
  package static func text(_ status: Int, _ text: String, contentType: String = "text/plain; charset=utf-8")
    -> HTTPResponse
  {
    HTTPResponse(status: status, headers: [HTTPField("Content-Type", contentType)], body: .bytes(Array(text.utf8)))
  }

  /// A server-sent event stream (WHATWG HTML 9.2).
  package static func events(_ stream: BodyStream) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: [HTTPField("Content-Type", "text/event-stream"), HTTPField("Cache-Control", "no-store")],
      body: .stream(stream))
  }

  /// The body when it is `.bytes`; nil for a stream.
  package var bytes: [UInt8]? {
    if case .bytes(let bytes) = body { return bytes }
    return nil
  }
}
