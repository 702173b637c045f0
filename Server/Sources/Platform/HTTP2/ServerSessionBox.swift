internal import CNghttp2

/// Where nghttp2's call-backs find their server session.
final class SessionBox {
  unowned(unsafe) var owner: HTTP2ServerSession?
  private let memory = SessionMemory.make()

  /// The session is deleted by then: its owner holds this box.
  deinit {
    memory.pointee.deallocate()
    memory.deallocate()
  }

  func makeSession() throws(HTTP2SessionError) -> OpaquePointer {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, Self.frameLeaves)
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Self.frameSent)
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Self.headersBegin)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Self.header)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Self.frameReceived)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Self.dataReceived)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Self.streamClosed)
    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    // Closed streams are kept only for priorities, which push clients do not use.
    nghttp2_option_set_no_closed_streams(option, 1)
    // Ours is the one limit on resets: nghttp2's runs on real time, which a replayed run must not see.
    nghttp2_option_set_stream_reset_rate_limit(option, UInt64(Int32.max), UInt64(Int32.max))
    var session: OpaquePointer?
    let data = Unmanaged.passUnretained(self).toOpaque()
    var memory = SessionMemory.callbacks(memory)
    let status = nghttp2_session_server_new3(&session, callbacks, data, option, &memory)
    guard status == 0, let session else { throw sessionError(Int(status)) }
    return session
  }

  /// The one place where a call-back finds its session. nil while the session is being made or deleted.
  private static func owner(_ data: UnsafeMutableRawPointer?) -> HTTP2ServerSession? {
    guard let data else { return nil }
    return Unmanaged<SessionBox>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.owner }
  }

  static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
    guard let stream = source?.pointee.ptr, let buffer, let flags else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    return Unmanaged<ServerStream>.fromOpaque(stream)._withUnsafeGuaranteedRef { $0.read(into: buffer, length, flags) }
  }

  private static let frameLeaves: nghttp2_before_frame_send_callback = { _, frame, data in
    guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return 0 }
    owner(data)?.goawayLeaves(code: frame.pointee.goaway.error_code)
    return 0
  }

  private static let frameSent: nghttp2_on_frame_send_callback = { _, frame, data in
    guard let header = frame?.pointee.hd else { return 0 }
    let isData = UInt32(header.type) == NGHTTP2_DATA.rawValue || UInt32(header.type) == NGHTTP2_HEADERS.rawValue
    guard isData else { return 0 }
    let ends = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    owner(data)?.frameSent(header.stream_id, endStream: ends)
    return 0
  }

  private static let headersBegin: nghttp2_on_begin_headers_callback = { _, frame, data in
    guard let frame else { return 0 }
    owner(data)?.headersBegin(frame.pointee.hd.stream_id)
    return 0
  }

  private static let header: nghttp2_on_header_callback = { _, _, name, nameLength, value, valueLength, _, data in
    guard let name, let value else { return 0 }
    owner(data)?.header(name, nameLength, value, valueLength)
    return 0
  }

  private static let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, data in
    guard let header = frame?.pointee.hd, let owner = owner(data) else { return 0 }
    let ends = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    let isAnswer = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue: owner.headersEnd(header.stream_id, endStream: ends)
    case NGHTTP2_DATA.rawValue:
      // A frame that neither brings anything nor ends anything.
      if header.length == 0, !ends { owner.spendControlFrame() }
      if ends { owner.requestEnds(header.stream_id) }
    case NGHTTP2_SETTINGS.rawValue: if !isAnswer { owner.settingsReceived() }
    case NGHTTP2_PING.rawValue: if isAnswer { owner.spendControlFrame() } else { owner.pingReceived() }
    case NGHTTP2_RST_STREAM.rawValue, NGHTTP2_PRIORITY.rawValue: owner.spendControlFrame()
    default: break
    }
    return 0
  }

  private static let dataReceived: nghttp2_on_data_chunk_recv_callback = { _, _, id, bytes, count, data in
    owner(data)?.body(id, UnsafeBufferPointer(start: bytes, count: count))
    return 0
  }

  private static let streamClosed: nghttp2_on_stream_close_callback = { _, id, code, data in
    owner(data)?.streamClosed(id, code: code)
    return 0
  }
}
