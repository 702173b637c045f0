import Simulator

private typealias Kind = RawFrame.Kind

extension RFC9113Row {
  private static let path = WireRig.path
  private static let body = WireRig.body

  private static func whole(_ rig: WireRig, _ stream: UInt32 = 1) -> [RawFrame] {
    [.headers(stream, rig.push), .data(stream, body)]
  }

  private static func request(_ fields: [(String, String)]) -> [RawFrame] {
    [.headers(1, fields), .data(1, body)]
  }

  /// Sections 4 and 5: frames and streams.
  static let framesAndStreams: [RFC9113Row] = [
    Self("4.1", "a frame of an unknown type is skipped", .answered(200)) {
      [RawFrame(type: 0xEE, flags: 0xFF, payload: [1, 2, 3])] + whole($0)
    },
    Self("4.1", "a set reserved bit before the stream id does not count", .answered(200)) {
      [.ping(stream: 0x8000_0000)] + whole($0)
    },
    Self("4.2", "DATA beyond SETTINGS_MAX_FRAME_SIZE", .connectionError([frameSize])) {
      [.headers(1, $0.push), .data(1, String(repeating: "x", count: 16_385))]
    },
    Self("4.2", "HEADERS beyond SETTINGS_MAX_FRAME_SIZE", .connectionError([frameSize])) { _ in
      [RawFrame(type: Kind.headers, flags: 4, stream: 1, payload: .init(repeating: 0x82, count: 16_385))]
    },
    Self("4.3", "an index that no table has", .connectionError([compression])) { _ in
      [RawFrame(type: Kind.headers, flags: 5, stream: 1, payload: [0xFF, 0xFF, 0x0F])]
    },
    Self("4.3", "another frame amid a header section", .connectionError([protocolError])) {
      [.headers(1, $0.push, flags: 0), .ping(), RawFrame(type: Kind.continuation, flags: 4, stream: 1)]
    },
    Self("5.1", "DATA on an idle stream", .connectionError([protocolError, streamClosed])) { _ in [.data(1, body)] },
    Self("5.1", "RST_STREAM on an idle stream", .connectionError([protocolError])) { _ in [.reset(1)] },
    Self("5.1", "WINDOW_UPDATE on an idle stream", .connectionError([protocolError])) { _ in [.window(1, 5)] },
    Self("5.1", "CONTINUATION without HEADERS", .connectionError([protocolError])) { _ in
      [RawFrame(type: Kind.continuation, flags: 4, stream: 1)]
    },
    Self("5.1", "DATA after END_STREAM", .connectionError([streamClosed])) { whole($0) + [.data(1, "late")] },
    Self("5.1", "DATA after our client's RST_STREAM is dropped", by: .ours, .ignored) { rig in
      [.headers(1, rig.push), .reset(1), .data(1, body)]
    },
    Self("5.1", "HEADERS after END_STREAM", .connectionError([streamClosed])) {
      whole($0) + [.headers(1, $0.push, flags: 5)]
    },
    Self("5.1.1", "a stream of even number", .connectionError([protocolError])) { [.headers(2, $0.push)] },
    // It may have been closed long ago: closed streams are not kept (`no_closed_streams`).
    Self("5.1.1", "a stream below one that was used is passed over", by: .ours, .ignored, stream: 3) {
      whole($0, 5) + whole($0, 3)
    },
    Self("5.1.1", "the first stream may have any odd number", .answered(200), stream: 77) { whole($0, 77) },
    Self("5.1.2", "a second stream before a provider token is known", by: .ours, .connectionError([protocolError])) {
      [.headers(1, $0.push), .headers(3, $0.push)]
    },
    Self("5.3", "priority in HEADERS is read over", .answered(200)) { rig in
      var head = RawFrame.headers(1, rig.push, flags: RawFrame.endHeaders | RawFrame.withPriority)
      head.payload = [0, 0, 0, 3, 15] + head.payload
      return [head, .data(1, body)]
    },
    Self("5.5", "an unknown frame amid a header section", .connectionError([protocolError])) {
      [.headers(1, $0.push, flags: 0), RawFrame(type: 0xEE)]
    },
  ]

  /// Section 6: each frame by itself.
  static let frameDefinitions: [RFC9113Row] = [
    Self("6.1", "DATA on stream 0", .connectionError([protocolError])) { _ in [.data(0, body)] },
    Self("6.1", "padding as long as the frame", .connectionError([protocolError])) {
      [.headers(1, $0.push), RawFrame(type: Kind.data, flags: 0x9, stream: 1, payload: [5, 1, 2, 3, 4])]
    },
    Self("6.1", "padding is no part of the body", by: .ours, .answered(200)) { rig in
      let payload = [7] + Array(body.utf8) + [UInt8](repeating: 0, count: 7)
      return [.headers(1, rig.push), RawFrame(type: Kind.data, flags: 0x9, stream: 1, payload: payload)]
    },
    Self("6.1", "a body in many frames", by: .ours, .answered(200)) { rig in
      let pieces = body.map { RawFrame.data(1, String($0), flags: 0) }
      return [.headers(1, rig.push)] + pieces + [.data(1, "")]
    },
    Self("6.2", "HEADERS on stream 0", .connectionError([protocolError])) { [.headers(0, $0.push)] },
    Self("6.3", "PRIORITY on stream 0", .connectionError([protocolError])) { _ in
      [RawFrame(type: Kind.priority, payload: [0, 0, 0, 1, 1])]
    },
    Self("6.3", "PRIORITY of another length", .connectionError([frameSize])) { _ in
      [RawFrame(type: Kind.priority, stream: 1, payload: [1, 2, 3])]
    },
    Self("6.4", "RST_STREAM on stream 0", .connectionError([protocolError])) { _ in [.reset(0)] },
    Self("6.4", "RST_STREAM of another length", .connectionError([frameSize])) {
      [.headers(1, $0.push), RawFrame(type: Kind.reset, stream: 1, payload: [1, 2, 3])]
    },
    Self("6.5", "SETTINGS on a stream", .connectionError([protocolError])) { _ in
      [RawFrame(type: Kind.settings, stream: 1)]
    },
    Self("6.5", "SETTINGS of a length that is no multiple of six", .connectionError([frameSize])) { _ in
      [RawFrame(type: Kind.settings, payload: [1, 2, 3, 4, 5])]
    },
    Self("6.5", "an acknowledgement with a payload", .connectionError([frameSize])) { _ in
      [RawFrame(type: Kind.settings, flags: 1, payload: [0, 3, 0, 0, 0, 1])]
    },
    Self("6.5.2", "ENABLE_PUSH 2", .connectionError([protocolError])) { _ in [.settings([(id: 2, value: 2)])] },
    Self("6.5.2", "INITIAL_WINDOW_SIZE beyond 2^31-1", .connectionError([flowControl])) { _ in
      [.settings([(id: 4, value: 0x8000_0000)])]
    },
    Self("6.5.2", "MAX_FRAME_SIZE below 16,384", .connectionError([protocolError])) { _ in
      [.settings([(id: 5, value: 100)])]
    },
    Self("6.5.2", "an unknown setting is passed over", .answered(200)) {
      [.settings([(id: 0xABCD, value: 7)])] + whole($0)
    },
    Self("6.6", "PUSH_PROMISE from a client", .connectionError([protocolError])) {
      [.headers(1, $0.push), RawFrame(type: Kind.promise, flags: 4, stream: 1, payload: [0, 0, 0, 2])]
    },
    Self("6.7", "PING of another length", .connectionError([frameSize])) { _ in [.ping("1234567")] },
    Self("6.7", "PING on a stream", .connectionError([protocolError])) { _ in [.ping(stream: 1)] },
    Self("6.7", "an answer to a PING that we never sent", by: .ours, .answered(200)) {
      [.ping(flags: RawFrame.acknowledges)] + whole($0)
    },
    Self("6.8", "GOAWAY on a stream", .connectionError([protocolError])) { _ in
      [RawFrame(type: Kind.goaway, stream: 1, payload: .init(repeating: 0, count: 8))]
    },
    Self("6.9", "WINDOW_UPDATE 0 on the connection", .connectionError([protocolError])) { _ in [.window(0, 0)] },
    // Section 5.4.1 lets a stream error be one of the connection.
    Self("6.9", "WINDOW_UPDATE 0 on a stream", .connectionError([protocolError])) {
      [.headers(1, $0.push), .window(1, 0)]
    },
    Self("6.9", "WINDOW_UPDATE of another length", .connectionError([frameSize])) { _ in
      [RawFrame(type: Kind.window, payload: [0, 0, 1])]
    },
    Self("6.9.1", "a connection window beyond 2^31-1", .connectionError([flowControl])) { _ in
      [.window(0, 0x7FFF_FFFF), .window(0, 0x7FFF_FFFF)]
    },
    Self("6.9.1", "a stream window beyond 2^31-1", .streamError([flowControl])) {
      [.headers(1, $0.push), .window(1, 0x7FFF_FFFF), .window(1, 0x7FFF_FFFF)]
    },
    Self("6.10", "a header section in four frames", by: .ours, .answered(200)) { rig in
      let block = RawFrame.block(rig.push)
      let pieces: [(Range<Int>, UInt8)] = [(10..<40, 0), (40..<41, 0), (41..<block.count, RawFrame.endHeaders)]
      let rest = pieces.map { range, flags in
        RawFrame(type: Kind.continuation, flags: flags, stream: 1, payload: Array(block[range]))
      }
      return [RawFrame(type: Kind.headers, stream: 1, payload: Array(block[..<10]))] + rest + [.data(1, body)]
    },
    Self("6.10", "CONTINUATION on stream 0", .connectionError([protocolError])) {
      [.headers(1, $0.push, flags: 0), RawFrame(type: Kind.continuation, flags: 4)]
    },
    Self("7", "RST_STREAM with a code that nobody knows", by: .ours, .ignored) {
      [.headers(1, $0.push), .reset(1, 0xDEAD_BEEF)]
    },
  ]

  /// Section 8: HTTP semantics. Malformed requests end their stream and nothing else.
  static let semantics: [RFC9113Row] = [
    Self("8.1", "trailers end a request", by: .ours, .answered(200)) {
      [.headers(1, $0.push), .data(1, body, flags: 0), .headers(1, [("x-checksum", "1")], flags: 5)]
    },
    Self("8.1", "a second header section that ends nothing", .streamError([protocolError])) {
      [.headers(1, $0.push), .data(1, body, flags: 0), .headers(1, [("x-checksum", "1")])]
    },
    Self("8.1", "pseudo-headers in trailers", .streamError([protocolError])) {
      [.headers(1, $0.push), .data(1, body, flags: 0), .headers(1, [(":path", "/")], flags: 5)]
    },
    Self("8.1.1", "content-length that is not the body's", .streamError([protocolError])) {
      request($0.push + [("content-length", "3")])
    },
    Self("8.1.1", "content-length that is the body's", .answered(200)) {
      request($0.push + [("content-length", "\(body.utf8.count)")])
    },
    Self("8.2", "an upper-case field name", .streamError([protocolError])) { request($0.push + [("X-Name", "1")]) },
    Self("8.2.1", "a line end in a value", .streamError([protocolError])) { request($0.push + [("x-a", "1\r\nx: 2")]) },
    Self("8.2.1", "a blank in a name", .streamError([protocolError])) { request($0.push + [("x a", "1")]) },
    Self("8.2.2", "connection: close", .streamError([protocolError])) { request($0.push + [("connection", "close")]) },
    Self("8.2.2", "transfer-encoding", .streamError([protocolError])) {
      request($0.push + [("transfer-encoding", "chunked")])
    },
    Self("8.2.2", "te other than trailers", .streamError([protocolError])) { request($0.push + [("te", "gzip")]) },
    Self("8.2.2", "te: trailers", .answered(200)) { request($0.push + [("te", "trailers")]) },
    Self("8.3", "a pseudo-header after the others", .streamError([protocolError])) {
      request($0.push.filter { $0.0 != ":path" } + [(":path", path)])
    },
    Self("8.3", "an unknown pseudo-header", .streamError([protocolError])) { request([(":speed", "1")] + $0.push) },
    Self("8.3", "a pseudo-header of responses", .streamError([protocolError])) {
      request([(":status", "200")] + $0.push)
    },
    Self("8.3.1", ":path twice", .streamError([protocolError])) { request([(":path", path)] + $0.push) },
    Self("8.3.1", "no :method", .streamError([protocolError])) { request($0.push(":method", nil)) },
    Self("8.3.1", "no :scheme", .streamError([protocolError])) { request($0.push(":scheme", nil)) },
    Self("8.3.1", "no :path", .streamError([protocolError])) { request($0.push(":path", nil)) },
    Self("8.3.1", "an empty :path", .streamError([protocolError])) { request($0.push(":path", "")) },
    Self("8.5", "CONNECT is a method like others to a push service", by: .ours, .answered(405)) { _ in
      request([(":method", "CONNECT"), (":authority", "localhost:443")])
    },
    Self("10.5.1", "a header section beyond our SETTINGS_MAX_HEADER_LIST_SIZE", by: .ours, .answered(431)) {
      let wide = (0..<4).map { ("x-\($0)", String(repeating: "y", count: 5000)) }
      let block = RawFrame.block($0.push + wide)
      return [
        RawFrame(type: Kind.headers, stream: 1, payload: Array(block[..<9000])),
        RawFrame(type: Kind.continuation, flags: 4, stream: 1, payload: Array(block[9000...])), .data(1, body),
      ]
    },
    Self("10.5", "a body beyond what the stand-in keeps", by: .ours, .answered(413)) { rig in
      let piece = RawFrame.data(1, String(repeating: "x", count: 16_000), flags: 0)
      return [.headers(1, rig.push), piece, piece, piece, piece, .data(1, "")]
    },
  ]
}
