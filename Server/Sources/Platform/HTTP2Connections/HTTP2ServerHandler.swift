package import HTTP2

/// What a server is told; its listener retains it. All calls come on the loop's thread; answers given inside a call
/// leave in one write when the bytes that caused it have been handled.
package protocol HTTP2ServerHandler: AnyObject {
  /// TLS and the preface are done.
  func connectionOpened(_ connection: HTTP2ServerConnection)

  /// The header section is in, the body is not (or there is none). For those who answer early; a stream answered here
  /// gives no `requestReceived`. By default nothing.
  func requestHeadReceived(_ head: HTTP2ServerRequest, on connection: HTTP2ServerConnection)

  /// The whole request is in.
  func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection)

  /// Bytes have come in. Not `nil`: give the session at most so many at a time, so that a `setReadRate` from inside a
  /// call takes effect amid bytes that are here already. By default `nil`: all at once.
  func readingPiece(of connection: HTTP2ServerConnection) -> Int?

  /// The stream is closed. `code` is NO_ERROR after an orderly end.
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection)

  /// PING from the client (an answer is sent by itself). By default nothing.
  func pingReceived(on connection: HTTP2ServerConnection)

  /// The last call for a connection.
  func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError)
}

extension HTTP2ServerHandler {
  package func readingPiece(of connection: HTTP2ServerConnection) -> Int? { nil }
  package func requestHeadReceived(_ head: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {}
  package func pingReceived(on connection: HTTP2ServerConnection) {}
}
