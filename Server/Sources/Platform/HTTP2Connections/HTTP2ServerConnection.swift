import EventLoop
package import HTTP2
import PabalPrimitives

/// A client's connection as its server sees it. On its loop's thread only.
package final class HTTP2ServerConnection {
  /// Bytes that may wait for the kernel before nothing more is read: a client that does not read must not fill memory.
  private static let unsentBytesCap = 1024 * 1024

  /// Counts up from 1 for each listener.
  package let id: UInt64

  private let session: HTTP2ServerSession
  private let pipe: PlaintextPipe
  private let loop: any Loop
  private weak var listener: HTTP2Listener?
  /// Let go at the end, because handlers keep their connections.
  private var handler: (any HTTP2ServerHandler)?
  private let configuration: HTTP2ServerConfiguration
  private var handshakeDeadline: TimerID?
  private var lookTimer: TimerID?
  private var partingTimer: TimerID?
  private var stallTimer: TimerID?
  private var pace: ReadPace?
  private var paceTimer: TimerID?
  private var hasOpened = false
  private var isRetiring = false
  private var isPausedByCaller = false
  private var isPausedByUnsent = false
  private var ending: HTTP2ConnectionError?
  private var isHandling = false

  init(
    id: UInt64, session: HTTP2ServerSession, pipe: PlaintextPipe, channel: any ByteChannel, loop: any Loop,
    listener: HTTP2Listener, handler: any HTTP2ServerHandler, configuration: HTTP2ServerConfiguration
  ) {
    self.configuration = configuration
    self.id = id
    self.session = session
    self.pipe = pipe
    self.loop = loop
    self.listener = listener
    self.handler = handler
    pipe.channel = channel
  }

  func start() {
    session.delegate = self
    pipe.owner = self
    handshakeDeadline = loop.schedule(after: configuration.handshakeTimeout) { [weak self] in
      self?.end(
        HTTP2ConnectionError(.dialTimedOut, message: "The client did not finish its handshake in time."),
        gracefully: false)
    }
    pipe.accepted()
  }

  /// Answers a stream; nothing happens when it is closed or answered already. `endStream: false` leaves the stream half
  /// answered for ever (a fault to be played). An answer before the whole request is in is followed by
  /// RST_STREAM(NO_ERROR) (RFC 9113 §8.1).
  ///
  /// This and the other calls that send need a `flush` after them, except inside a handler's call.
  package func respond(
    stream: Int32, status: Int, headers: [(String, String)], body: [UInt8], endStream: Bool = true
  ) {
    session.respond(stream: stream, status: status, headers: headers, body: body, endStream: endStream)
  }

  /// An interim response (1xx).
  package func inform(stream: Int32, status: Int, headers: [(String, String)]) {
    session.inform(stream: stream, status: status, headers: headers)
  }

  /// Ends one stream with RST_STREAM. No effect on a stream that is not open.
  package func reset(stream: Int32, code: HTTP2ErrorCode) {
    session.reset(stream: stream, code: code)
  }

  /// nil: the last stream received. Streams above `lastStreamID` are dropped on our side too; no new ones are taken.
  /// The connection stays open until `close` or `abort`.
  package func goaway(lastStreamID: Int32?, code: HTTP2ErrorCode, debug: [UInt8]) {
    session.goaway(lastStreamID: lastStreamID, code: code, debug: debug)
  }

  /// Tells the client by SETTINGS how many streams it may have open from now on.
  package func setMaxConcurrentStreams(_ count: Int) {
    session.setMaxConcurrentStreams(count)
  }

  /// Asks the client for a sign of life.
  package func ping() {
    session.ping()
  }

  /// One write for everything said since the last. No effect from inside a handler's call, whose end flushes by itself.
  package func flush() {
    handle {}
  }

  /// GOAWAY, then closes when the open streams have ended.
  package func close() {
    handle {
      guard !isRetiring else { return }
      isRetiring = true
      if pipe.isOpen { session.goaway(lastStreamID: nil, code: .noError, debug: []) }
    }
  }

  /// Resets TCP at once; what was not flushed is lost. `connectionClosed` follows on a later turn.
  package func abort() {
    end(HTTP2ConnectionError(.aborted, message: "The connection was closed on our side."), gracefully: false)
  }

  package func pauseReading() {
    isPausedByCaller = true
    pipe.pauseReading()
  }

  package func resumeReading() {
    isPausedByCaller = false
    resumeIfNothingHinders()
  }

  private func resumeIfNothingHinders() {
    if !isPausedByCaller, !isPausedByUnsent, pace?.isHolding != true { pipe.resumeReading() }
  }

  /// From the next byte on the client is read at so many bytes a second, 1 or more; `nil`: as fast as it sends. While
  /// that holds, the times for a request and an answer do not end the connection.
  package func setReadRate(_ bytesPerSecond: Int?) {
    if let bytesPerSecond {
      pace = ReadPace(bytesPerSecond: max(1, bytesPerSecond), held: pace?.takeAll() ?? [])
      paceIfHolding()
      return
    }
    let held = pace?.takeAll() ?? []
    pace = nil
    if let paceTimer { loop.cancel(paceTimer) }
    paceTimer = nil
    guard !held.isEmpty else { return }
    handle { held.withUnsafeBytes { read($0) } }
    resumeIfNothingHinders()
  }

  package var openStreams: Int { session.openStreams }

  /// The certificate that the client showed, verified, in DER; `nil` when it showed none or was not asked.
  package var peerCertificate: [UInt8]? { pipe.peerCertificate }

  // MARK: Handling and ending

  /// Runs `work`, then sends what it caused, in one write. Inside another `handle` the outer one sends.
  private func handle(_ work: () -> Void) {
    if isHandling { return work() }
    isHandling = true
    work()
    drain()
    isHandling = false
    endIfDone()
  }

  private func drain() {
    guard pipe.isOpen else { return }
    do {
      try session.drain { try pipe.send($0) }
    } catch {
      end(breach(error), gracefully: true)
    }
    if !isPausedByUnsent, pipe.unsentBytes > Self.unsentBytesCap {
      isPausedByUnsent = true
      pipe.pauseReading()
      stallTimer = loop.schedule(after: configuration.answerTime) { [weak self] in
        self?.end(
          HTTP2ConnectionError(.protocolError(.enhanceYourCalm), message: "The client does not read its answers."),
          gracefully: false)
      }
    }
  }

  // MARK: Time

  /// Looks at streams that stand open, again and again until none does.
  private func watch() {
    guard lookTimer == nil, ending == nil, session.openStreams > 0 else { return }
    lookTimer = loop.schedule(after: HTTP2Limits.lookInterval) { [weak self] in self?.look() }
  }

  private func look() {
    lookTimer = nil
    if pace == nil {
      handle {
        session.endIfOverdue(
          now: loop.now, requestTime: configuration.requestTime, answerTime: configuration.answerTime)
      }
    }
    watch()
  }

  private func paceIfHolding() {
    guard let pace, pace.isHolding, paceTimer == nil, ending == nil else { return }
    pipe.pauseReading()
    paceTimer = loop.schedule(after: pace.interval) { [weak self] in self?.readNextPiece() }
  }

  private func readNextPiece() {
    paceTimer = nil
    guard ending == nil, let piece = pace?.takePiece() else { return }
    handle { piece.withUnsafeBytes { read($0) } }
    watch()
    if pace?.isHolding == true { paceIfHolding() } else { resumeIfNothingHinders() }
  }

  private func endIfDone() {
    if let code = session.breach, session.isFinished {
      end(
        HTTP2ConnectionError(.protocolError(code), message: "The client broke HTTP/2; our GOAWAY says \(code)."),
        gracefully: true)
    } else if isRetiring, session.openStreams == 0 {
      end(HTTP2ConnectionError(.drained, message: "The connection was closed in order."), gracefully: true)
    }
  }

  private func breach(_ error: any Error) -> HTTP2ConnectionError {
    let code = (error as? HTTP2SessionError)?.errorCode ?? .internalError
    return HTTP2ConnectionError(
      .protocolError(code), message: "The exchange with the client broke: \(error)", cause: error)
  }

  private func end(_ error: HTTP2ConnectionError, gracefully: Bool) {
    guard ending == nil else { return }
    ending = error
    guard gracefully else { return pipe.abort(nil) }
    pipe.close(nil)
    partingTimer = loop.schedule(after: HTTP2Limits.partingTime) { [weak self] in self?.pipe.abort(nil) }
  }
}

// MARK: - Bytes

extension HTTP2ServerConnection: PlaintextPipeOwner {
  func pipeOpened() {
    handle {}
  }

  func pipeReceived(_ bytes: UnsafeRawBufferPointer) {
    guard ending == nil else { return }
    let wasHandling = isHandling
    isHandling = true
    defer { isHandling = wasHandling }
    guard let piece = handler?.readingPiece(of: self) ?? pace.map({ _ in bytes.count }) else { return read(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty, ending == nil {
      if pace != nil {
        pace?.hold(UnsafeRawBufferPointer(rebasing: rest))
        break
      }
      read(UnsafeRawBufferPointer(rebasing: rest.prefix(max(1, piece))))
      rest = rest.dropFirst(max(1, piece))
    }
    paceIfHolding()
  }

  private func read(_ bytes: UnsafeRawBufferPointer) {
    do {
      try session.receive(bytes, now: loop.now)
    } catch {
      session.terminate(error.errorCode)
      drain()
      end(breach(error), gracefully: true)
    }
  }

  func pipeReadEnded() {
    handle {}
    watch()
  }

  func pipeFlushed() {
    guard isPausedByUnsent, pipe.unsentBytes <= Self.unsentBytesCap / 2 else { return }
    isPausedByUnsent = false
    if let stallTimer { loop.cancel(stallTimer) }
    resumeIfNothingHinders()
  }

  func pipeClosed(_ error: (any Error)?) {
    for timer in [handshakeDeadline, lookTimer, partingTimer, stallTimer, paceTimer].compactMap({ $0 }) {
      loop.cancel(timer)
    }
    session.delegate = nil
    listener?.remove(self)
    let handler = handler
    self.handler = nil
    guard hasOpened else { return }
    let reason =
      ending
      ?? HTTP2ConnectionError(
        .peerClosed, message: "The client closed the connection.", cause: error)
    handler?.connectionClosed(self, error: reason)
  }
}

// MARK: - HTTP/2

extension HTTP2ServerConnection: HTTP2ServerSessionDelegate {
  package func sessionReceivedSettings() {
    if let handshakeDeadline { loop.cancel(handshakeDeadline) }
    handshakeDeadline = nil
    hasOpened = true
    handler?.connectionOpened(self)
  }

  package func sessionReceivedHead(_ head: HTTP2ServerRequest) {
    handler?.requestHeadReceived(head, on: self)
  }

  package func sessionReceivedRequest(_ request: HTTP2ServerRequest) {
    handler?.requestReceived(request, on: self)
  }

  package func sessionStreamClosed(_ stream: Int32, code: HTTP2ErrorCode) {
    handler?.streamClosed(stream, code: code, on: self)
  }

  package func sessionReceivedPing() {
    handler?.pingReceived(on: self)
  }
}
