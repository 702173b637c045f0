internal import CNghttp2
package import PabalPrimitives

/// What a server session tells. None of these calls comes from inside `drain`, but `sessionStreamClosed` may.
package protocol HTTP2ServerSessionDelegate: AnyObject {
  /// The client's preface and SETTINGS are in.
  func sessionReceivedSettings()
  func sessionReceivedHead(_ head: HTTP2ServerRequest)
  /// The whole request; not after the stream was answered early.
  func sessionReceivedRequest(_ request: HTTP2ServerRequest)
  func sessionStreamClosed(_ stream: Int32, code: HTTP2ErrorCode)
  func sessionReceivedPing()
}

/// The server's side of one HTTP/2 connection as plaintext bytes in and out; it knows no socket. On one thread.
package final class HTTP2ServerSession {
  /// Strong: its owner clears it at the end.
  package var delegate: (any HTTP2ServerSessionDelegate)?
  private let session: OpaquePointer
  private let requestBodyLimit: Int
  private var scratch = HeaderScratch()
  private var gather = GatherBuffer()
  private var flood: FloodBudget
  private var streams: [Int32: ServerStream] = [:]
  private var hasSettings = false
  private var ownGoaways = 0
  private var fields = ResponseFields()

  /// The code of a GOAWAY that ended the session because of the client's breach.
  package private(set) var breach: HTTP2ErrorCode?

  package init(
    maxConcurrentStreams: Int, requestBodyLimit: Int = HTTP2Limits.requestBodyBytes,
    connectionWindow: Int = HTTP2Limits.connectionWindowBytes, streamWindow: Int = HTTP2Limits.streamWindowBytes,
    flood: FloodBudget = FloodBudget()
  ) throws(HTTP2SessionError) {
    let box = SessionBox()
    session = try box.makeSession()
    self.requestBodyLimit = requestBodyLimit
    self.flood = flood
    self.box = box
    box.owner = self
    let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    let settings = [
      nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams),
      nghttp2_settings_entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, streamWindow),
      nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2Limits.headerListBytes),
    ]
    nghttp2_submit_settings(session, none, settings, settings.count)
    nghttp2_session_set_local_window_size(session, none, 0, Int32(clamping: connectionWindow))
  }

  /// nghttp2 carries its address; it exists before `self` does.
  private let box: SessionBox

  deinit {
    box.owner = nil
    nghttp2_session_del(session)
    scratch.deallocate()
    gather.deallocate()
  }

  /// Streams that are not closed.
  package var openStreams: Int { streams.count }

  // MARK: Receiving

  /// - Throws: when the session cannot go on. What must still be said to the client comes with `drain`.
  package func receive(_ bytes: UnsafeRawBufferPointer, now: Instant) throws(HTTP2SessionError) {
    flood.refill(at: now)
    let count = nghttp2_session_mem_recv(
      session, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    guard count >= 0 else { throw sessionError(count) }
  }

  /// Ends the session when a request's end has not come within `requestTime` or an answer was not taken within
  /// `answerTime`. Times count from the first call that sees the stream.
  package func endIfOverdue(
    now: Instant, requestTime: Duration = HTTP2Limits.requestTime, answerTime: Duration = HTTP2Limits.answerTime
  ) {
    var isOverdue = false
    for stream in streams.values where stream.isOverdue(at: now, requestTime: requestTime, answerTime: answerTime) {
      isOverdue = true
    }
    if isOverdue { terminate(.enhanceYourCalm) }
  }

  /// GOAWAY with a code, after which nothing more is read or answered.
  package func terminate(_ code: HTTP2ErrorCode) {
    guard breach == nil else { return }
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// The session was ended because of a breach, and what it had to say is drained.
  package var isFinished: Bool {
    breach != nil && nghttp2_session_want_write(session) == 0
  }

  // MARK: Sending

  /// See `HTTP2ServerConnection.respond`.
  package func respond(
    stream id: Int32, status: Int, headers: [(String, String)], body: [UInt8], endStream: Bool = true
  ) {
    guard let stream = streams[id], !stream.isAnswered else { return }
    stream.isAnswered = true
    stream.response = body
    stream.endsAfterResponse = endStream
    let hasData = !body.isEmpty || !endStream
    fields.with(status: status, headers: headers) { fields in
      var provider = nghttp2_data_provider()
      provider.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
      provider.read_callback = SessionBox.readBody
      if hasData {
        _ = nghttp2_submit_response(session, id, fields.baseAddress, fields.count, &provider)
      } else {
        _ = nghttp2_submit_response(session, id, fields.baseAddress, fields.count, nil)
      }
    }
  }

  /// An interim response.
  package func inform(stream id: Int32, status: Int, headers: [(String, String)]) {
    guard let stream = streams[id], !stream.isAnswered else { return }
    let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    fields.with(status: status, headers: headers) { fields in
      _ = nghttp2_submit_headers(session, none, id, nil, fields.baseAddress, fields.count, nil)
    }
  }

  /// Ends one stream with RST_STREAM. No effect on a stream that is not open.
  package func reset(stream id: Int32, code: HTTP2ErrorCode) {
    guard streams[id] != nil else { return }
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
  }

  /// nil: the last stream received.
  package func goaway(lastStreamID: Int32?, code: HTTP2ErrorCode, debug: [UInt8]) {
    ownGoaways += 1
    let last = lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debug, debug.count)
  }

  /// Tells the client by SETTINGS how large a table its header compression may use from now on; several values come in
  /// one frame, and each counts.
  package func setHeaderTable(bytes: [Int]) {
    let settings = bytes.map { nghttp2_settings_entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, $0) }
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
  }

  /// Tells the client by SETTINGS how many streams it may have open from now on.
  package func setMaxConcurrentStreams(_ count: Int) {
    let settings = [nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)]
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
  }

  /// Asks the client for a sign of life.
  package func ping() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Everything that waits to be sent, in pieces of at most 64 KiB, valid during the call.
  package func drain(_ send: (UnsafeRawBufferPointer) throws -> Void) throws {
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count >= 0 else { throw sessionError(count) }
      guard count > 0, let bytes else { break }
      if !gather.fits(count) { try send(gather.handOut()) }
      gather.append(bytes, count)
    }
    if gather.count > 0 { try send(gather.handOut()) }
  }
}

// MARK: - Called by SessionBox

extension HTTP2ServerSession {
  func headersBegin(_ id: Int32) {
    scratch.reset()
    if streams[id] == nil { streams[id] = ServerStream(id: id) }
  }

  func header(
    _ name: UnsafePointer<UInt8>, _ nameLength: Int, _ value: UnsafePointer<UInt8>, _ valueLength: Int
  ) {
    scratch.append(name, nameLength, value, valueLength)
  }

  func headersEnd(_ id: Int32, endStream: Bool) {
    guard let stream = streams[id] else { return }
    if !stream.hasHead {
      stream.hasHead = true
      stream.request = HTTP2ServerRequest(
        stream: id, headers: scratch.block(), headersOverflowed: scratch.overflowed)
      delegate?.sessionReceivedHead(stream.request)
    }
    if endStream { requestEnds(id) }
  }

  func body(_ id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
    guard let stream = streams[id], !stream.isAnswered else { return }
    let room = max(0, requestBodyLimit - stream.request.body.count)
    stream.request.body.append(contentsOf: bytes.prefix(room))
    if bytes.count > room { stream.request.bodyOverflowed = true }
  }

  func requestEnds(_ id: Int32) {
    guard let stream = streams[id], !stream.isComplete else { return }
    stream.isComplete = true
    guard !stream.isAnswered else { return }
    let request = stream.request
    stream.request.body = []
    delegate?.sessionReceivedRequest(request)
  }

  func streamClosed(_ id: Int32, code: UInt32) {
    guard let stream = streams.removeValue(forKey: id), stream.hasHead else { return }
    delegate?.sessionStreamClosed(id, code: HTTP2ErrorCode(rawValue: code))
  }

  func settingsReceived() {
    guard spendControlFrame(), !hasSettings else { return }
    hasSettings = true
    delegate?.sessionReceivedSettings()
  }

  func pingReceived() {
    guard spendControlFrame() else { return }
    delegate?.sessionReceivedPing()
  }

  @discardableResult
  func spendControlFrame() -> Bool {
    if flood.spend() { return true }
    terminate(.enhanceYourCalm)
    return false
  }

  func goawayLeaves(code: UInt32) {
    if ownGoaways > 0 { ownGoaways -= 1 } else { breach = HTTP2ErrorCode(rawValue: code) }
  }

  /// RFC 9113 §8.1: a server that has answered without reading the whole request asks the client to stop sending it.
  func frameSent(_ id: Int32, endStream: Bool) {
    guard endStream, let stream = streams[id], !stream.isComplete else { return }
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, NGHTTP2_NO_ERROR.rawValue)
  }
}
