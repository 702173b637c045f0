/// What one listening server allows. Every number has a reason; the defaults fit an API on loopback or behind a proxy.
package struct WebServerLimits: Sendable {
  /// Bytes of a request body kept in memory. A larger `Content-Length` is answered 413 before the body is read.
  package var bodyBytes = 1 << 20
  /// A chunked body that passes its limit is read on and thrown away up to this many times the limit, so that a
  /// reply can be given (the library answers only after the whole body); then the connection is dropped.
  package var discardFactor = 4
  /// Bytes of the library's pool for one connection: request line, headers and reply header together.
  /// 10,000 idle connections cost 80 MB at 8 KB, and 165 MB were measured at 16 KB.
  package var connectionPoolBytes = 8 << 10
  /// Open connections in all; the kernel's backlog holds the rest.
  package var connections = 1024
  /// Open connections of one client address, so that one client cannot take them all. Loopback clients share one.
  package var connectionsPerAddress = 512
  /// Query arguments of one request; the library itself goes silent near 1,000.
  package var queryArguments = 64
  /// Headers of one request; 8 KB hold about as many.
  package var headers = 100

  /// An idle kept-alive connection, and the time until the request line of the next request is complete.
  package var idle: Duration = .seconds(60)
  /// From the request line to the end of the headers: ends a client that sends a byte each second.
  package var head: Duration = .seconds(10)
  /// From the end of the headers to the end of the body.
  package var body: Duration = .seconds(30)
  /// From the end of the body to the handler's answer; then 503 `handler_timeout`.
  package var handling: Duration = .seconds(60)
  /// From the answer to its last byte taken by the kernel. Streams are exempt.
  package var reply: Duration = .seconds(60)
  /// A stream whose buffer holds bytes and gives none to the kernel for so long is cut.
  package var streamStall: Duration = .seconds(30)
  /// A silent stream gets a heartbeat this often: the only way to notice that its client is gone.
  package var heartbeat: Duration = .seconds(15)

  package init() {}
}

extension BodyStream {
  /// Bytes buffered for one client before the producer waits (`write`) or the client is cut (`offer`).
  package static let bufferBytes = 256 << 10
  /// A comment line of an event stream (WHATWG HTML 9.2.6): ignored by every client.
  package static let eventStreamHeartbeat = Array(": \n\n".utf8)
}
