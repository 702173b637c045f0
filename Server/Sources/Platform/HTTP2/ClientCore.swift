internal import CNghttp2

/// What nghttp2's call-backs of a client session touch for each request: trivial, at a fixed address.
struct ClientCore {
  var session: OpaquePointer?
  let memory = SessionMemory.make()
  var owner: Unmanaged<HTTP2ClientSession>?
  var slots = RequestSlots()
  var marks = HeadMarks()
  var gather = GatherBuffer()
  var scratch = HeaderScratch()
  let kept: KeptHeaders
  var encoder = HeaderEncoder()
  var templates = TemplateShelf()

  /// Responses with headers or a body whose end is on its way.
  var partial: [RequestSlotPointer: HTTP2Response] = [:]
  let plainStatus: Int32
  /// Plain responses that the delegate has not been told of yet.
  var plain: [UInt64] = []

  /// Whose HEADERS frame is the next piece that nghttp2 gives.
  var leaving: RequestSlotPointer?
  /// Requests whose HEADERS wait in nghttp2, in order.
  private var queueHead: RequestSlotPointer?
  private var queueTail: RequestSlotPointer?

  var openStreams = 0
  /// Body bytes submitted that nghttp2 has not counted against the peer's window yet.
  var bodyBytesHandedOver = 0
  var peerMaxStreams = 0
  /// The window of a new stream. RFC 9113 §6.5.2: 65,535 until SETTINGS say otherwise.
  var peerStreamWindow = 65_535
  var hasSettings = false
  var goawayReceived = false
  var isBlockedOnWindow = false
  var breach: UInt32 = 0

  mutating func deallocate() {
    nghttp2_session_del(session)
    memory.pointee.deallocate()
    memory.deallocate()
    slots.deallocate()
    gather.deallocate()
    scratch.deallocate()
    kept.deallocate()
  }

  init(keptHeaders: [String]?, plainStatus: Int) {
    kept = KeptHeaders(keptHeaders)
    self.plainStatus = Int32(clamping: plainStatus)
  }

  mutating func queue(_ slot: RequestSlotPointer) {
    if let queueTail { queueTail.pointee.next = slot } else { queueHead = slot }
    queueTail = slot
  }

  /// The HEADERS of a stream begin at the next byte. nghttp2 sends requests in the order submitted; those before it
  /// that were cancelled never come.
  mutating func headersLeave(streamID: Int32) {
    while let slot = queueHead {
      queueHead = slot.pointee.next
      if queueHead == nil { queueTail = nil }
      slot.pointee.next = nil
      guard slot.pointee.streamID == streamID else { continue }
      slot.pointee.isSerialised = true
      leaving = slot
      marks.append(.init(slot: slot, generation: slot.pointee.generation, offset: gather.offset))
      return
    }
  }

  /// Before the slot goes back: it may have been cancelled while it waited.
  mutating func unqueue(_ slot: RequestSlotPointer) {
    var previous: RequestSlotPointer?
    var current = queueHead
    while let here = current {
      if here == slot {
        if let previous { previous.pointee.next = here.pointee.next } else { queueHead = here.pointee.next }
        if queueTail == here { queueTail = previous }
        here.pointee.next = nil
        return
      }
      previous = here
      current = here.pointee.next
    }
  }

  // MARK: nghttp2

  /// All that nghttp2 must know of a request's headers: see `writeHead`.
  nonisolated(unsafe) private static let method: UnsafeMutablePointer<nghttp2_nv> = {
    // Proof of `nonisolated(unsafe)`: private, written before any other code sees it and never again, never freed.
    func text(_ text: StaticString) -> UnsafeMutablePointer<UInt8> { UnsafeMutablePointer(mutating: text.utf8Start) }
    let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
    let method = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: 1)
    method.initialize(
      to: nghttp2_nv(
        name: text(":method"), value: text("POST"), namelen: 7, valuelen: 4, flags: UInt8(truncatingIfNeeded: flags)))
    return method
  }()

  /// - Returns: the stream's id; an nghttp2 error when memory or ids are used up.
  static func submit(_ core: UnsafeMutablePointer<ClientCore>, _ slot: RequestSlotPointer) -> Int32 {
    guard slot.pointee.bodyCount > 0 else {
      return nghttp2_submit_request(core.pointee.session, nil, method, 1, nil, slot)
    }
    var provider = nghttp2_data_provider()
    provider.source.ptr = UnsafeMutableRawPointer(slot)
    provider.read_callback = readBody
    return nghttp2_submit_request(core.pointee.session, nil, method, 1, &provider, slot)
  }

  static func makeSession(_ core: UnsafeMutablePointer<ClientCore>) throws(HTTP2SessionError) -> OpaquePointer {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, frameLeaves)
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegin)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    var session: OpaquePointer?
    var memory = SessionMemory.callbacks(core.pointee.memory)
    let status = nghttp2_session_client_new3(&session, callbacks, UnsafeMutableRawPointer(core), option, &memory)
    guard status == 0, let session else { throw sessionError(Int(status)) }
    return session
  }

  /// The one place where a call-back finds its session.
  private static func core(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ClientCore> {
    guard let data else { preconditionFailure("an nghttp2 session lost its owner") }
    return data.assumingMemoryBound(to: ClientCore.self)
  }

  private static func slot(_ data: UnsafeMutableRawPointer?) -> RequestSlotPointer? {
    data?.assumingMemoryBound(to: RequestSlot.self)
  }

  private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, data in
    guard let slot = slot(source?.pointee.ptr), let buffer else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let sent = Int(slot.pointee.bodySent)
    let count = min(length, Int(slot.pointee.bodyCount) - sent)
    let start = slot.pointee.bodyStart + sent
    slot.pointee.source.pointee.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: source[start..<start + count]))
    }
    slot.pointee.bodySent += Int32(truncatingIfNeeded: count)
    core(data).pointee.bodyBytesHandedOver -= count
    if slot.pointee.bodySent == slot.pointee.bodyCount {
      flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      slot.pointee.source.pointee = []
    }
    return count
  }

  private static let frameLeaves: nghttp2_before_frame_send_callback = { _, frame, data in
    guard let frame else { return 0 }
    switch UInt32(frame.pointee.hd.type) {
    case NGHTTP2_HEADERS.rawValue: core(data).pointee.headersLeave(streamID: frame.pointee.hd.stream_id)
    case NGHTTP2_GOAWAY.rawValue: core(data).pointee.breach = frame.pointee.goaway.error_code
    default: break
    }
    return 0
  }

  private static let headersBegin: nghttp2_on_begin_headers_callback = { _, _, data in
    core(data).pointee.scratch.reset()
    return 0
  }

  private static let header: nghttp2_on_header_callback = { _, _, name, nameLength, value, valueLength, _, data in
    guard let name, let value else { return 0 }
    let core = core(data)
    if nameLength > 0, name[0] == UInt8(ascii: ":") {
      // A response has one pseudo-header; nghttp2 has checked that it is three digits.
      var status: Int32 = 0
      for index in 0..<valueLength { status = status &* 10 &+ Int32(value[index] &- UInt8(ascii: "0")) }
      core.pointee.scratch.status = status
    } else if core.pointee.kept.contains(name, nameLength) {
      core.pointee.scratch.append(name, nameLength, value, valueLength)
    }
    return 0
  }

  private static let frameReceived: nghttp2_on_frame_recv_callback = { session, frame, data in
    guard let frame else { return 0 }
    let core = core(data)
    let header = frame.pointee.hd
    guard let owner = core.pointee.owner else { return 0 }
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue:
      guard let slot = slot(nghttp2_session_get_stream_user_data(session, header.stream_id)) else { return 0 }
      let ends = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
      if core.pointee.takePlainHead(slot, endStream: ends) { return 0 }
      owner._withUnsafeGuaranteedRef { $0.receivedHead(slot, endStream: ends) }
    case NGHTTP2_DATA.rawValue:
      guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
        let slot = slot(nghttp2_session_get_stream_user_data(session, header.stream_id))
      else { return 0 }
      if core.pointee.takePlainEnd(slot) { return 0 }
      owner._withUnsafeGuaranteedRef { $0.receivedEnd(slot) }
    default: controlFrameReceived(frame, core, owner)
    }
    return 0
  }

  private static func controlFrameReceived(
    _ frame: UnsafePointer<nghttp2_frame>, _ core: UnsafeMutablePointer<ClientCore>,
    _ owner: Unmanaged<HTTP2ClientSession>
  ) {
    let header = frame.pointee.hd
    let isAnswer = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
    switch UInt32(header.type) {
    case NGHTTP2_SETTINGS.rawValue where !isAnswer:
      let session = core.pointee.session
      let settings = UnsafeBufferPointer(start: frame.pointee.settings.iv, count: frame.pointee.settings.niv)
      for entry in settings where UInt32(entry.settings_id) == NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue {
        core.pointee.encoder.limitTable(Int(entry.value))
      }
      core.pointee.hasSettings = true
      core.pointee.peerMaxStreams = Int(
        nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
      core.pointee.peerStreamWindow = Int(
        nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
      owner._withUnsafeGuaranteedRef { $0.receivedSettings() }
    case NGHTTP2_PING.rawValue:
      owner._withUnsafeGuaranteedRef { if isAnswer { $0.receivedPong() } else { $0.spendControlFrame() } }
    case NGHTTP2_GOAWAY.rawValue:
      core.pointee.goawayReceived = true
      let goaway = frame.pointee.goaway
      let debug = Array(UnsafeBufferPointer(start: goaway.opaque_data, count: goaway.opaque_data_len))
      owner._withUnsafeGuaranteedRef {
        $0.receivedGoaway(
          lastStreamID: goaway.last_stream_id, code: HTTP2ErrorCode(rawValue: goaway.error_code), debug: debug)
      }
    case NGHTTP2_WINDOW_UPDATE.rawValue where header.stream_id == 0:
      owner._withUnsafeGuaranteedRef { $0.windowMayHaveOpened() }
    default: break
    }
  }

  private static let dataReceived: nghttp2_on_data_chunk_recv_callback = { session, _, id, bytes, count, data in
    guard let slot = slot(nghttp2_session_get_stream_user_data(session, id)) else { return 0 }
    let chunk = UnsafeBufferPointer(start: bytes, count: count)
    core(data).pointee.owner?._withUnsafeGuaranteedRef { $0.receivedBody(slot, chunk) }
    return 0
  }

  private static let streamClosed: nghttp2_on_stream_close_callback = { session, id, code, data in
    guard let slot = slot(nghttp2_session_get_stream_user_data(session, id)) else { return 0 }
    let core = core(data)
    if !slot.pointee.isSerialised {
      core.pointee.unqueue(slot)
      core.pointee.templates.giveBack(slot.pointee.template)
    }
    let state = slot.pointee
    let response = core.pointee.partial.isEmpty ? nil : core.pointee.partial.removeValue(forKey: slot)
    core.pointee.bodyBytesHandedOver -= Int(state.bodyCount - state.bodySent)
    core.pointee.openStreams -= 1
    core.pointee.slots.giveBack(slot)
    guard !state.isSettled else { return 0 }
    core.pointee.owner?._withUnsafeGuaranteedRef {
      $0.streamClosed(state, response, code: HTTP2ErrorCode(rawValue: code))
    }
    return 0
  }
}
