internal import CNghttp2
package import PabalPrimitives

/// The client's side of one HTTP/2 connection as plaintext bytes in and out; it knows no socket. On one thread.
///
/// The hot state lies in a struct behind a pointer, so that neither nghttp2's call-backs nor a submit touch a reference
/// count. nghttp2 frames, counts streams and windows and reads answers; the header sections of requests are ours
/// (`HeaderEncoder`). Everything to send is gathered into pieces of 64 KiB.
package final class HTTP2ClientSession {
  /// Strong, because a weak one costs an atomic operation at each event: its owner clears it at the end.
  package var delegate: (any HTTP2ClientSessionDelegate)?
  let core: UnsafeMutablePointer<ClientCore>
  private let concurrentStreamsCap: Int
  let responseBodyLimit: Int

  private var unprocessed: [(streamID: Int32, tag: UInt64)] = []
  private var flood = FloodBudget()
  private let lastStreamID: Int32
  /// The peer's first bytes, until they are known not to be a GOAWAY.
  private var firstFrame: [UInt8]? = []
  /// For the simulation, which proves itself by finding it: bytes by which the window is overrun.
  package var plantedWindowSlack = 0

  /// - Parameters:
  ///   - keptHeaders: names of the response headers that are kept, in lower case; nil keeps all.
  ///   - plainStatus: responses of this status without kept headers and body are told in bulk; 0: none.
  ///   - firstStreamID: 1 but in tests of exhaustion.
  ///   - lastStreamID: no stream is opened above it.
  package init(
    concurrentStreamsCap: Int = HTTP2Limits.concurrentStreams,
    responseBodyLimit: Int = HTTP2Limits.responseBodyBytes, keptHeaders: [String]? = nil, plainStatus: Int = 0,
    firstStreamID: Int32 = 1, lastStreamID: Int32 = .max
  ) throws(HTTP2SessionError) {
    self.lastStreamID = lastStreamID
    self.concurrentStreamsCap = concurrentStreamsCap
    self.responseBodyLimit = responseBodyLimit
    core = .allocate(capacity: 1)
    core.initialize(to: ClientCore(keptHeaders: keptHeaders, plainStatus: plainStatus))
    let session = try ClientCore.makeSession(core)
    core.pointee.session = session
    core.pointee.owner = Unmanaged.passUnretained(self)
    if firstStreamID > 1 { nghttp2_session_set_next_stream_id(session, firstStreamID) }
    let settings = [
      nghttp2_settings_entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
      nghttp2_settings_entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2Limits.streamWindowBytes),
      nghttp2_settings_entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2Limits.headerListBytes),
    ]
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    nghttp2_session_set_local_window_size(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(HTTP2Limits.connectionWindowBytes))
  }

  deinit {
    core.pointee.deallocate()
    core.deinitialize(count: 1)
    core.deallocate()
  }

  // MARK: Sending

  /// What the peer allows now, capped; 0 before its SETTINGS.
  package var maxConcurrentStreams: Int {
    core.pointee.hasSettings ? min(core.pointee.peerMaxStreams, concurrentStreamsCap) : 0
  }

  package var openStreams: Int { core.pointee.openStreams }

  /// No new streams: the peer's GOAWAY, or all stream ids used.
  package var isDraining: Bool { core.pointee.goawayReceived || streamIDsAreExhausted }

  package var streamIDsAreExhausted: Bool {
    nghttp2_session_get_next_stream_id(core.pointee.session) > UInt32(lastStreamID)
  }

  /// See `HTTP2ClientConnection.canSubmit(bodyBytes:)`.
  package func canSubmit(bodyBytes: Int) -> Bool {
    guard !isDraining, core.pointee.openStreams < maxConcurrentStreams else { return false }
    if bodyBytes <= windowBytes, bodyBytes <= core.pointee.peerStreamWindow { return true }
    // Alone it may be split: there is nothing to starve behind. So no body waits for ever for a window that a peer
    // never opens as far.
    if core.pointee.openStreams == 0 { return true }
    core.pointee.isBlockedOnWindow = true
    return false
  }

  /// Of the peer's window of the connection, what nothing submitted will use.
  private var windowBytes: Int {
    Int(nghttp2_session_get_remote_window_size(core.pointee.session)) - core.pointee.bodyBytesHandedOver
      + plantedWindowSlack
  }

  /// Valid until the session is drained or receives something.
  package var room: RequestRoom {
    guard !isDraining else { return RequestRoom() }
    let idsLeft = Int(lastStreamID) - Int(nghttp2_session_get_next_stream_id(core.pointee.session))
    return RequestRoom(
      streams: max(0, min(maxConcurrentStreams - core.pointee.openStreams, idsLeft / 2 + 1)), windowBytes: windowBytes,
      streamWindowBytes: core.pointee.peerStreamWindow)
  }

  /// Only after `canSubmit` or `room` said yes. The bytes come with the next `drain`.
  ///
  /// Path, value of the unique header and body lie in one array, as they do for a whole batch of requests: so one
  /// request costs one reference count.
  package func submit(
    template: HTTP2HeaderTemplate, source: [UInt8], path: Range<Int>, unique: Range<Int>, body: Range<Int>, tag: UInt64
  ) {
    let slot = core.pointee.slots.take()
    slot.pointee.tag = tag
    slot.pointee.pathStart = path.lowerBound
    slot.pointee.pathCount = Int32(truncatingIfNeeded: path.count)
    slot.pointee.uniqueStart = unique.lowerBound
    slot.pointee.uniqueCount = Int32(truncatingIfNeeded: unique.count)
    slot.pointee.bodyStart = body.lowerBound
    slot.pointee.bodyCount = Int32(truncatingIfNeeded: body.count)
    slot.pointee.source.pointee = source
    slot.pointee.template = core.pointee.templates.take(template)
    let id = ClientCore.submit(core, slot)
    guard id > 0 else {
      // Memory or stream ids are used up; the latter is asked for before. Nothing was sent.
      core.pointee.templates.giveBack(slot.pointee.template)
      core.pointee.slots.giveBack(slot)
      unprocessed.append((.max, tag))
      return
    }
    slot.pointee.streamID = id
    core.pointee.openStreams += 1
    core.pointee.bodyBytesHandedOver += body.count
    core.pointee.queue(slot)
  }

  /// Resets the stream with CANCEL. Nothing more is told about it. False: there is no such request.
  package func cancel(tag: UInt64) -> Bool {
    var found: RequestSlotPointer?
    core.pointee.slots.visitOpen { if $0.pointee.tag == tag, !$0.pointee.isSettled { found = $0 } }
    guard let slot = found else { return false }
    slot.pointee.isSettled = true
    nghttp2_submit_rst_stream(
      core.pointee.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.streamID, NGHTTP2_CANCEL.rawValue)
    return true
  }

  /// Asks for a sign of life; `sessionReceivedPong` tells the answer.
  package func ping() {
    nghttp2_submit_ping(core.pointee.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Says goodbye; nothing can be submitted after it.
  package func goaway() {
    core.pointee.goawayReceived = true
    nghttp2_submit_goaway(
      core.pointee.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, NGHTTP2_NO_ERROR.rawValue, nil, 0)
  }

  /// Everything that waits to be sent, in pieces of at most 64 KiB, valid during the call. Not from inside a delegate's
  /// call.
  package func drain(_ send: (UnsafeRawBufferPointer) throws -> Void) throws {
    defer {
      tellPlain()
      if !unprocessed.isEmpty { reportUnprocessed() }
    }
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(core.pointee.session, &bytes)
      guard count >= 0 else { throw sessionError(count) }
      guard count > 0, let bytes else { break }
      if let slot = core.pointee.leaving {
        core.pointee.leaving = nil
        try ClientCore.gatherHead(core, of: slot, instead: UnsafeBufferPointer(start: bytes, count: count), send)
        continue
      }
      if !core.pointee.gather.fits(count) { try send(core.pointee.gather.handOut()) }
      core.pointee.gather.append(bytes, count)
    }
    if core.pointee.gather.count > 0 { try send(core.pointee.gather.handOut()) }
  }

  /// Plaintext bytes ever handed out by `drain`.
  package var totalBytesDrained: UInt64 { core.pointee.gather.totalHandedOut }

  /// The kernel has taken a byte of everything drained before `offset`; returns the requests of which it now has one,
  /// in order.
  package func kernelTook(before offset: UInt64) -> [UInt64] {
    guard core.pointee.marks.isAny(before: offset) else { return [] }
    var tags: [UInt64] = []
    tags.reserveCapacity(core.pointee.marks.count)
    core.pointee.marks.take(before: offset) { mark in
      guard mark.slot.pointee.generation == mark.generation else { return }
      mark.slot.pointee.isTaken = true
      if !mark.slot.pointee.isSettled { tags.append(mark.slot.pointee.tag) }
    }
    return tags
  }

  /// The connection is gone: every request without an end, in order of submission, by whether the kernel had a byte
  /// of it. Those whose answers had begun are told as reset instead. Once.
  package func abandon() -> (lost: [UInt64], unsent: [UInt64]) {
    var open: [RequestSlotPointer] = []
    core.pointee.slots.visitOpen { if !$0.pointee.isSettled { open.append($0) } }
    open.sort { $0.pointee.streamID < $1.pointee.streamID }
    for slot in open { slot.pointee.isSettled = true }
    for slot in open where slot.pointee.status != 0 {
      delegate?.sessionStreamReset(tag: slot.pointee.tag, code: .cancel, hadStatus: Int(slot.pointee.status))
    }
    open.removeAll { $0.pointee.status != 0 }
    let lost = open.filter(\.pointee.isTaken).map(\.pointee.tag)
    let unsent = open.filter { !$0.pointee.isTaken }.map(\.pointee.tag)
    return (lost, unsent + unprocessed.map(\.tag))
  }

  // MARK: Receiving

  /// - Throws: when the session cannot go on. What must still be said to the peer comes with `drain`.
  package func receive(_ bytes: UnsafeRawBufferPointer, now: Instant) throws(HTTP2SessionError) {
    flood.refill(at: now)
    if firstFrame != nil { return try receiveFirst(bytes) }
    try check(feed(bytes))
  }

  /// RFC 9113 section 3.4 wants SETTINGS first, and nghttp2 insists on it. A peer that wants no connection now sends
  /// GOAWAY alone; what it says is worth more than "SETTINGS expected".
  private func receiveFirst(_ bytes: UnsafeRawBufferPointer) throws(HTTP2SessionError) {
    let seen = (firstFrame ?? []) + bytes
    firstFrame = seen
    guard seen.count >= 9 else { return }
    let length = Int(seen[0]) << 16 | Int(seen[1]) << 8 | Int(seen[2])
    let isGoaway = UInt32(seen[3]) == NGHTTP2_GOAWAY.rawValue && (8...HTTP2Limits.headerListBytes).contains(length)
    guard isGoaway else {
      firstFrame = nil
      return try check(seen.withUnsafeBytes { feed($0) })
    }
    guard seen.count >= 9 + length, !core.pointee.goawayReceived else { return }
    core.pointee.goawayReceived = true
    func word(_ start: Int) -> UInt32 { seen[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    delegate?.sessionReceivedGoaway(
      lastStreamID: Int32(truncatingIfNeeded: word(9) & 0x7FFF_FFFF), code: HTTP2ErrorCode(rawValue: word(13)),
      debug: Array(seen[17..<9 + length]))
  }

  private func feed(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = nghttp2_session_mem_recv(
      core.pointee.session, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    tellPlain()
    if !unprocessed.isEmpty { reportUnprocessed() }
    return count
  }

  /// Before anything else is told, so that all comes in order.
  private func tellPlain() {
    guard !core.pointee.plain.isEmpty else { return }
    var tags: [UInt64] = []
    swap(&tags, &core.pointee.plain)
    delegate?.sessionReceivedPlainResponses(tags: tags)
    // A delegate that has let go of the list leaves its memory for the next one.
    tags.removeAll(keepingCapacity: true)
    if core.pointee.plain.isEmpty { swap(&tags, &core.pointee.plain) }
  }

  private func check(_ status: Int) throws(HTTP2SessionError) {
    guard status >= 0 else { throw sessionError(status) }
  }

  /// Both sides have nothing more to say: after a GOAWAY with no stream open, or a breach of protocol.
  package var isFinished: Bool {
    nghttp2_session_want_read(core.pointee.session) == 0 && nghttp2_session_want_write(core.pointee.session) == 0
  }

  /// The code of a GOAWAY that nghttp2 sent because of the peer's breach.
  package var breach: HTTP2ErrorCode? {
    core.pointee.breach == 0 ? nil : HTTP2ErrorCode(rawValue: core.pointee.breach)
  }

  private func reportUnprocessed() {
    // nghttp2 closes streams in the order of its own table.
    let tags = unprocessed.sorted { $0.streamID < $1.streamID }.map(\.tag)
    unprocessed = []
    delegate?.sessionUnprocessed(tags: tags)
  }
}

// MARK: - Called by ClientCore

extension HTTP2ClientSession {
  func receivedHead(_ slot: RequestSlotPointer, endStream: Bool) {
    let scratch = core.pointee.scratch
    if slot.pointee.status == 0 {
      // RFC 9110 §15.2: any number of interim responses may come before the final one.
      guard scratch.status >= 200 else { return }
      slot.pointee.status = scratch.status
      let response = HTTP2Response(status: Int(scratch.status), headers: scratch.block())
      if endStream { return settle(slot, with: response) }
      if scratch.fields > 0 { core.pointee.partial[slot] = response }
    } else if endStream {
      receivedEnd(slot)  // Trailers say nothing that we need.
    }
  }

  func receivedBody(_ slot: RequestSlotPointer, _ bytes: UnsafeBufferPointer<UInt8>) {
    guard !slot.pointee.isSettled else { return }
    let limit = responseBodyLimit
    core.pointee.partial[slot, default: HTTP2Response(status: Int(slot.pointee.status))].append(bytes, limit: limit)
  }

  func receivedEnd(_ slot: RequestSlotPointer) {
    // Trailers may come before the final head of a broken peer: no answer.
    guard slot.pointee.status != 0 else { return }
    let response = core.pointee.partial.removeValue(forKey: slot) ?? HTTP2Response(status: Int(slot.pointee.status))
    settle(slot, with: response)
  }

  private func settle(_ slot: RequestSlotPointer, with response: HTTP2Response) {
    guard !slot.pointee.isSettled else { return }
    slot.pointee.isSettled = true
    tellPlain()
    delegate?.sessionReceivedResponse(tag: slot.pointee.tag, response)
  }

  /// - Parameters:
  ///   - state: of the request that was in the slot.
  ///   - partial: what had come of its response.
  func streamClosed(_ state: RequestSlot, _ partial: HTTP2Response?, code: HTTP2ErrorCode) {
    tellPlain()
    if code == .noError, state.status != 0 {
      // RFC 9113 §8.1: the server answered before it had the whole request, and wants no more of it.
      let response = partial ?? HTTP2Response(status: Int(state.status))
      delegate?.sessionReceivedResponse(tag: state.tag, response)
    } else if !state.isSerialised || (code == .refusedStream && state.status == 0) {
      unprocessed.append((state.streamID, state.tag))
    } else {
      delegate?.sessionStreamReset(
        tag: state.tag, code: code, hadStatus: state.status == 0 ? nil : Int(state.status))
    }
  }

  func receivedGoaway(lastStreamID: Int32, code: HTTP2ErrorCode, debug: [UInt8]) {
    tellPlain()
    delegate?.sessionReceivedGoaway(lastStreamID: lastStreamID, code: code, debug: debug)
  }

  func receivedSettings() {
    guard spendControlFrame() else { return }
    tellPlain()
    delegate?.sessionReceivedSettings()
    windowMayHaveOpened()
  }

  func receivedPong() {
    tellPlain()
    delegate?.sessionReceivedPong()
  }

  func windowMayHaveOpened() {
    guard core.pointee.isBlockedOnWindow else { return }
    core.pointee.isBlockedOnWindow = false
    tellPlain()
    delegate?.sessionWindowOpened()
  }

  /// False: the session is being ended with ENHANCE_YOUR_CALM.
  @discardableResult
  func spendControlFrame() -> Bool {
    if flood.spend() { return true }
    nghttp2_session_terminate_session(core.pointee.session, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
    return false
  }
}
