package import EventLoop
import HTTP2
package import TLS
import PabalPrimitives

/// What a server allows.
package struct HTTP2ServerConfiguration: Sendable {
  package var maxConcurrentStreams: Int
  package var requestBodyLimit: Int
  /// Receive window of the connection; the client may have that many body bytes on the way.
  package var connectionWindow: Int
  package var streamWindow: Int
  /// From accept until the client's preface.
  package var handshakeTimeout: Duration
  /// From the first byte of a request to its end, and for an answer to be taken; then the connection ends by GOAWAY
  /// ENHANCE_YOUR_CALM. Kept to within `HTTP2Limits.lookInterval`.
  package var requestTime = HTTP2Limits.requestTime
  package var answerTime = HTTP2Limits.answerTime
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
  private let loop: any Loop
  private let tls: TLSServerContext?
  private let configuration: HTTP2ServerConfiguration
  private let handler: any HTTP2ServerHandler
  private var listener: (any ByteListener)?
  private var open: [UInt64: HTTP2ServerConnection] = [:]
  private var lastID: UInt64 = 0

  /// `tls` nil: plaintext with prior knowledge, for the scripted network only.
  package init(
    loop: any Loop, tls: TLSServerContext?, configuration: HTTP2ServerConfiguration = .init(),
    handler: any HTTP2ServerHandler
  ) {
    self.loop = loop
    self.tls = tls
    self.configuration = configuration
    self.handler = handler
  }

  /// Port 0 takes a free one. Returns the port bound.
  package func listen(on endpoint: Endpoint) throws(ChannelError) -> UInt16 {
    let listener = try loop.listen(on: endpoint) { [weak self] channel in self?.accept(channel) }
    self.listener = listener
    return listener.port
  }

  /// No new connections; the open ones are told by GOAWAY and close when their streams have ended.
  package func stop() {
    listener?.close()
    listener = nil
    for connection in connections { connection.close() }
  }

  /// In order of acceptance.
  package var connections: [HTTP2ServerConnection] { open.values.sorted { $0.id < $1.id } }

  private func accept(_ channel: any ByteChannel) -> (any ByteChannelHandler)? {
    guard open.count < configuration.maxConnections else { return nil }
    do {
      let session = try HTTP2ServerSession(
        maxConcurrentStreams: configuration.maxConcurrentStreams, requestBodyLimit: configuration.requestBodyLimit,
        connectionWindow: configuration.connectionWindow, streamWindow: configuration.streamWindow)
      let pipe = PlaintextPipe(
        tls: try tls.map { try TLSSession(server: $0, peer: "the client") }, isClient: false)
      lastID += 1
      let connection = HTTP2ServerConnection(
        id: lastID, session: session, pipe: pipe, channel: channel, loop: loop, listener: self, handler: handler,
        configuration: configuration)
      open[lastID] = connection
      connection.start()
      return pipe
    } catch {
      // Memory is used up: the client sees a reset and dials again.
      return nil
    }
  }

  func remove(_ connection: HTTP2ServerConnection) {
    open[connection.id] = nil
  }
}
