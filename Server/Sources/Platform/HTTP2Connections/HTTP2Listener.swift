package import EventLoop
import HTTP2
package import TLS

/// What a server allows.
package struct HTTP2ServerConfiguration: Sendable {
  package var maxConcurrentStreams: Int
  package var requestBodyLimit: Int
  /// Receive window of the connection; the client may have that many body bytes on the way.
  package var connectionWindow: Int
  package var streamWindow: Int
  /// From accept until the client's preface.
  package var handshakeTimeout: Duration
  /// Further connections are refused, so that one peer cannot use up the file descriptors.
  package var maxConnections: Int

  package init(
    maxConcurrentStreams: Int = 1000, requestBodyLimit: Int = HTTP2Limits.requestBodyBytes,
    connectionWindow: Int = HTTP2Limits.connectionWindowBytes, streamWindow: Int = HTTP2Limits.streamWindowBytes,
    handshakeTimeout: Duration = .seconds(10), maxConnections: Int = 1000
  ) {
    self.maxConcurrentStreams = maxConcurrentStreams
    self.requestBodyLimit = requestBodyLimit
    self.connectionWindow = connectionWindow
    self.streamWindow = streamWindow
    self.handshakeTimeout = handshakeTimeout
    self.maxConnections = maxConnections
  }
}

/// Accepts HTTP/2 connections. On its loop's thread only.
package final class HTTP2Listener {
  /// `tls` nil: plaintext with prior knowledge, for the scripted network only.
  package init(
    loop: any Loop, tls: TLSServerContext?, configuration: HTTP2ServerConfiguration = .init(),
    handler: any HTTP2ServerHandler
  ) {}

  /// Port 0 takes a free one. Returns the port bound.
  package func listen(on endpoint: Endpoint) throws(ChannelError) -> UInt16 { fatalError("not landed yet") }

  /// No new connections; the open ones are told by GOAWAY and close when their streams have ended.
  package func stop() { fatalError("not landed yet") }

  package var connections: [HTTP2ServerConnection] { [] }
}
