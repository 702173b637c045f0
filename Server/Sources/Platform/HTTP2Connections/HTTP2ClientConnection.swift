package import EventLoop
package import HTTP2
import PabalPrimitives
import TLS

/// One HTTP/2 connection to a provider. On its loop's thread only.
///
/// It keeps itself alive from `start` until `closed` was told.
package final class HTTP2ClientConnection {
  /// Bytes that may wait for the kernel before `canSubmit` says no: a peer that stops reading must not fill our memory.
  private static let unsentBytesCap = 512 * 1024

  private enum State {
    /// Can transition to: dialling, closed.
    case idle
    /// Until the peer's SETTINGS. Can transition to: open, closed.
    case dialling(deadline: TimerID)
    /// Can transition to: closed.
    case open
    case closed
  }

  package let configuration: HTTP2ClientConfiguration
  private let loop: any Loop
  private var events: (HTTP2ClientEvent) -> Void
  private var state = State.idle
  private var session: HTTP2ClientSession?
  private var pipe: PlaintextPipe?
  /// Why it ends, once that is decided.
  private var ending: HTTP2ConnectionError?
  /// `close` was called.
  private var isRetiring = false
  private var hasToldExhaustion = false
  private var isBlockedOnKernel = false
  private var lastMaxStreams = 0

  /// Inside an event: what is submitted waits for the end of it.
  private var isHandling = false
  private var needsFlush = false

  package init(
    loop: any Loop, configuration: HTTP2ClientConfiguration, events: @escaping (HTTP2ClientEvent) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.events = events
  }

  // MARK: Dialling

  /// Dials. Once. Also a failure at once is told on a later turn.
  package func start() {
    guard case .idle = state else { return }
    let deadline = loop.schedule(after: configuration.dialTimeout) { [weak self] in self?.dialTimedOut() }
    state = .dialling(deadline: deadline)
    do {
      let session = try HTTP2ClientSession(
        concurrentStreamsCap: configuration.concurrentStreamsCap,
        responseBodyLimit: configuration.responseBodyLimit, keptHeaders: configuration.keptHeaders,
        plainStatus: configuration.plainStatus, firstStreamID: configuration.firstStreamID,
        lastStreamID: configuration.lastStreamID)
      var tls: TLSSession?
      if let context = configuration.tls {
        tls = try TLSSession(client: context, serverName: configuration.serverName)
      }
      session.plantedWindowSlack = configuration.plantedWindowSlack
      session.delegate = self
      self.session = session
      let tunnel = configuration.proxy.map { ConnectTunnelMachine(proxy: $0, target: configuration.endpoint) }
      let pipe = PlaintextPipe(tls: tls, isClient: true, tunnel: tunnel)
      pipe.owner = self
      self.pipe = pipe
      pipe.channel = loop.connect(to: configuration.proxy?.endpoint ?? configuration.endpoint, handler: pipe)
    } catch {
      loop.schedule(after: .zero) { self.pipeClosed(error) }
    }
  }

  private func dialTimedOut() {
    guard case .dialling = state else { return }
    let phase = pipe?.isOpen == true ? "TCP and TLS were up" : "TCP or TLS did not come up"
    end(
      HTTP2ConnectionError(
        .dialTimedOut,
        message: "\(configuration.endpoint) gave no HTTP/2 SETTINGS within \(configuration.dialTimeout); \(phase). "
          + "Check the address, and any firewall or proxy in between."),
      gracefully: false)
  }

  // MARK: Requests

  /// A stream is free, the connection's window holds the whole body, and the kernel keeps up. A body is never split by
  /// flow control, because a split one can starve behind others until the connection is idle.
  package func canSubmit(bodyBytes: Int) -> Bool {
    guard case .open = state, ending == nil, !isRetiring, let session else { return false }
    guard keepsUp else {
      isBlockedOnKernel = true
      return false
    }
    return session.canSubmit(bodyBytes: bodyBytes)
  }

  /// Calls `work`, if requests may be submitted now, with what takes them: the way for many at once.
  package func fill(_ work: (HTTP2Intake) -> Void) {
    guard case .open = state, ending == nil, !isRetiring, let session else { return }
    needsFlush = true
    work(HTTP2Intake(connection: self, session: session))
  }

  fileprivate var keepsUp: Bool { (pipe?.unsentBytes ?? 0) <= Self.unsentBytesCap }

  /// A single request, whose parts lie apart: queued, and nothing leaves before `flush` or the end of the event that is
  /// being handled. Only after `canSubmit(bodyBytes:)` said yes. `tag` comes back in events and is unique among open
  /// requests.
  package func submit(
    template: HTTP2HeaderTemplate, path: [UInt8], unique: [UInt8], body: [UInt8], tag: UInt64
  ) {
    session?.submit(template: template, path: path, unique: unique, body: body, tag: tag)
    needsFlush = true
  }

  /// One write for everything submitted. No effect from inside an event, whose end flushes by itself.
  package func flush() {
    handle {}
  }

  /// Resets the stream with CANCEL. No further event names the tag.
  ///
  /// - Returns: whether the request was open. If not, an event has told its end, or is about to.
  @discardableResult
  package func cancel(tag: UInt64) -> Bool {
    var wasOpen = false
    handle {
      wasOpen = session?.cancel(tag: tag) ?? false
      needsFlush = true
    }
    return wasOpen
  }

  /// `pong` follows.
  package func ping() {
    handle {
      session?.ping()
      needsFlush = true
    }
  }

  /// Takes no more requests, waits for the open ones, then closes.
  package func close() {
    guard case .open = state else { return abort() }
    handle { isRetiring = true }
  }

  /// Closes at once; `closed` follows on a later turn and names what was open.
  package func abort() {
    switch state {
    case .closed: break
    case .idle:
      state = .closed
      loop.schedule(after: .zero) { self.finish(Self.aborted) }
    case .dialling, .open: end(Self.aborted, gracefully: false)
    }
  }

  private static let aborted = HTTP2ConnectionError(.aborted, message: "The connection was closed on our side.")

  package var openStreams: Int { session?.openStreams ?? 0 }

  /// What the peer allows now, capped by the configuration. 0 before `ready`.
  package var maxConcurrentStreams: Int { session?.maxConcurrentStreams ?? 0 }

  // MARK: Handling

  /// Runs `work`, then sends what it caused, in one write. Inside another `handle` the outer one sends.
  private func handle(_ work: () -> Void) {
    if isHandling { return work() }
    isHandling = true
    work()
    // Bounded: each round needs a handler that submitted, and submits are bounded by streams and window.
    repeat {
      needsFlush = false
      drain()
      tellWritten()
      tellExhaustion()
    } while needsFlush
    isHandling = false
    endIfDrained()
  }

  private func drain() {
    guard let session, let pipe, pipe.isOpen else { return }
    do {
      try session.drain { try pipe.send($0) }
    } catch {
      end(breach(error), gracefully: true)
    }
  }

  private func tellWritten() {
    guard let session, let pipe else { return }
    let tags = session.kernelTook(before: pipe.plaintextTaken)
    if !tags.isEmpty { events(.written(tags: tags)) }
  }

  private func tellExhaustion() {
    guard !hasToldExhaustion, let session, session.streamIDsAreExhausted else { return }
    hasToldExhaustion = true
    events(.streamIDsExhausted)
  }

  // MARK: Ending

  private func endIfDrained() {
    guard ending == nil, let session else { return }
    if let code = session.breach {
      let message = "The peer broke HTTP/2; our GOAWAY says \(code). Check what listens at \(configuration.endpoint)."
      return end(HTTP2ConnectionError(.protocolError(code), message: message), gracefully: true)
    }
    guard case .open = state else { return }
    guard isRetiring || session.isDraining, session.openStreams == 0 else { return }
    session.goaway()
    drain()
    end(
      HTTP2ConnectionError(.drained, message: "All requests had ended and the connection was closed in order."),
      gracefully: true)
  }

  private func breach(_ error: any Error) -> HTTP2ConnectionError {
    let code = (error as? HTTP2SessionError)?.errorCode ?? .internalError
    return HTTP2ConnectionError(
      .protocolError(code), message: "The exchange with \(configuration.endpoint) broke: \(error)", cause: error)
  }

  /// The first reason stands. `pipeClosed` follows.
  private func end(_ error: HTTP2ConnectionError, gracefully: Bool) {
    guard ending == nil else { return }
    ending = error
    if gracefully { pipe?.close(nil) } else { pipe?.abort(nil) }
  }

  private func finish(_ error: HTTP2ConnectionError) {
    if case .dialling(let deadline) = state { loop.cancel(deadline) }
    state = .closed
    tellWritten()
    let open = session?.abandon() ?? ([], [])
    session?.delegate = nil
    session = nil
    pipe = nil
    let events = events
    self.events = { _ in }
    events(.closed(error, lost: open.0, unsent: open.1))
  }

  /// Why the pipe ended, when nobody on our side had decided it.
  private func reason(_ error: (any Error)?) -> HTTP2ConnectionError {
    let endpoint = configuration.endpoint
    // What the proxy said.
    if let said = error as? HTTP2ConnectionError { return said }
    if let tls = error as? TLSError {
      let kind: HTTP2ConnectionError.Kind = tls.kind == .alpnMismatch ? .alpnMissing : .tls(tls.kind)
      return HTTP2ConnectionError(kind, message: tls.message, cause: tls)
    }
    if case .open = state {
      if session?.isDraining == true, session?.openStreams == 0 {
        return HTTP2ConnectionError(.drained, message: "\(endpoint) closed the connection after its GOAWAY.")
      }
      return HTTP2ConnectionError(
        .peerClosed, message: "\(endpoint) closed the connection. Requests without an answer may have been taken.",
        cause: error)
    }
    if let error {
      let endpoint = configuration.proxy.map { "\(endpoint) through the proxy \($0)" } ?? endpoint.description
      return HTTP2ConnectionError(.unreachable, message: "\(endpoint) cannot be reached: \(error)", cause: error)
    }
    return HTTP2ConnectionError(
      .unreachable, message: "\(endpoint) closed the connection before HTTP/2 was up; check what listens there.")
  }
}

/// What takes the requests of one `HTTP2ClientConnection.fill`.
package struct HTTP2Intake {
  fileprivate let connection: HTTP2ClientConnection
  fileprivate let session: HTTP2ClientSession

  /// How many requests `canSubmit` would allow one after another.
  package var room: RequestRoom { connection.keepsUp ? session.room : RequestRoom() }

  /// As `HTTP2ClientConnection.canSubmit`, which remembers to tell when a refusal is over.
  package func canSubmit(bodyBytes: Int) -> Bool { connection.canSubmit(bodyBytes: bodyBytes) }

  /// Queues a request, as `HTTP2ClientConnection.submit` does. Only after `room` or `canSubmit` said yes. Path, value
  /// of the unique header and body lie in `source`.
  package func submit(
    template: HTTP2HeaderTemplate, source: [UInt8], path: Range<Int>, unique: Range<Int>, body: Range<Int>, tag: UInt64
  ) {
    session.submit(template: template, source: source, path: path, unique: unique, body: body, tag: tag)
  }
}

// MARK: - Bytes

extension HTTP2ClientConnection: PlaintextPipeOwner {
  func pipeOpened() {
    handle { needsFlush = true }
  }

  func pipeReceived(_ bytes: UnsafeRawBufferPointer) {
    guard let session, ending == nil else { return }
    let wasHandling = isHandling
    isHandling = true
    defer { isHandling = wasHandling }
    do {
      try session.receive(bytes, now: loop.now)
    } catch {
      drain()
      end(breach(error), gracefully: true)
    }
  }

  func pipeReadEnded() {
    handle {}
  }

  func pipeFlushed() {
    handle {
      guard isBlockedOnKernel, let pipe, pipe.unsentBytes <= Self.unsentBytesCap / 2 else { return }
      isBlockedOnKernel = false
      events(.windowOpened)
    }
  }

  func pipeClosed(_ error: (any Error)?) {
    if case .closed = state { return }
    finish(ending ?? reason(error))
  }
}

// MARK: - HTTP/2

extension HTTP2ClientConnection: HTTP2ClientSessionDelegate {
  package func sessionReceivedSettings() {
    let now = maxConcurrentStreams
    switch state {
    case .dialling(let deadline):
      loop.cancel(deadline)
      state = .open
      events(.ready(maxConcurrentStreams: now))
    case .open where now != lastMaxStreams: events(.maxConcurrentStreams(now))
    case .open, .idle, .closed: break
    }
    lastMaxStreams = now
  }

  package func sessionReceivedResponse(tag: UInt64, _ response: HTTP2Response) {
    events(.response(tag: tag, response))
  }

  package func sessionReceivedPlainResponses(tags: [UInt64]) {
    events(.plainResponses(tags: tags))
  }

  package func sessionStreamReset(tag: UInt64, code: HTTP2ErrorCode, hadStatus: Int?) {
    events(.reset(tag: tag, code: code, hadStatus: hadStatus))
  }

  package func sessionUnprocessed(tags: [UInt64]) {
    events(.unprocessed(tags: tags))
  }

  package func sessionReceivedGoaway(lastStreamID: Int32, code: HTTP2ErrorCode, debug: [UInt8]) {
    if case .dialling = state {
      let reason = debug.isEmpty ? "" : " and \"\(Self.readable(debug))\""
      end(
        HTTP2ConnectionError(
          .turnedAway,
          message:
            "\(configuration.endpoint) wants no connection now: its first frame was GOAWAY with \(code)\(reason)."),
        gracefully: true)
    }
    events(.goaway(lastStreamID: lastStreamID, code: code, debug: debug))
  }

  /// A peer's bytes for a person's eye: the first hundred, and only what is printable.
  private static func readable(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix(100).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  package func sessionReceivedPong() {
    events(.pong)
  }

  package func sessionWindowOpened() {
    events(.windowOpened)
  }
}
