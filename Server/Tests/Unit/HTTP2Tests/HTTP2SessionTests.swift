import HTTP2
import PabalPrimitives
import Testing

@Suite("HTTP/2 sessions back to back")
struct HTTP2SessionTests {
  @Test("a request and its answer, headers in order with duplicates and pseudo-headers")
  func requestAndAnswer() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    pair.onRequest = { request in
      pair.server.respond(
        stream: request.stream, status: 400, headers: [("apns-id", "id-7"), ("x", "1"), ("x", "2")],
        body: Array(#"{"reason":"BadDeviceToken"}"#.utf8))
    }
    try pair.exchange()
    #expect(pair.clientNotes == [.settings(maxConcurrentStreams: 100)])
    #expect(pair.client.canSubmit(bodyBytes: 10))
    pair.submit(7, body: "hello")
    try pair.exchange()

    let request = try #require(pair.requests.first)
    #expect(
      request.headers.fields.map { "\($0.name): \($0.value)" } == [
        ":method: POST", ":scheme: https", ":authority: api.push.apple.com", ":path: /3/device/7",
        "apns-topic: com.example.app", "apns-id: id-7",
      ])
    #expect(request.body == Array("hello".utf8))
    #expect(!request.bodyOverflowed)
    let response = try #require(pair.responses[7])
    #expect(response.status == 400)
    #expect(response.headers.fields.map(\.value) == ["id-7", "1", "2"])
    #expect(response.headers.all("x").map { Array($0) } == [[0x31], [0x32]])
    #expect(response.headers.string("apns-id") == "id-7")
    #expect(response.body == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
    #expect(pair.client.openStreams == 0)
    #expect(pair.server.openStreams == 0)
    #expect(pair.serverNotes == [.settings, .head(1), .request(1), .closed(1, .noError)])
  }

  @Test("nothing may be submitted before SETTINGS; a change of template is seen by the next request only")
  func settingsFirstAndTemplates() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    #expect(pair.client.maxConcurrentStreams == 0)
    try pair.exchange()
    pair.submit(1)
    let other = HTTP2HeaderTemplate(
      authority: "b", headers: [("authorization", "bearer x"), ("apns-topic", "t")], uniqueHeader: "apns-id")
    pair.client.submit(template: other, path: Array("/p".utf8), unique: Array("u".utf8), body: [], tag: 2)
    pair.submit(3)
    try pair.exchange()
    pair.requests.sort { $0.stream < $1.stream }  // The one without a body is whole first.
    #expect(pair.requests.map { $0.headers.string(":authority") } == ["api.push.apple.com", "b", "api.push.apple.com"])
    #expect(pair.requests.map { $0.headers.string("authorization") } == [nil, "bearer x", nil])
    #expect(pair.requests.map { $0.headers.string(":path") } == ["/3/device/1", "/p", "/3/device/3"])
    #expect(pair.requests[1].body.isEmpty)
  }

  @Test("interim responses are not shown")
  func interim() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    pair.onRequest = { request in
      pair.server.inform(stream: request.stream, status: 103, headers: [("link", "a")])
      pair.server.respond(stream: request.stream, status: 200, headers: [], body: [])
    }
    try pair.exchange()
    pair.submit(1)
    try pair.exchange()
    #expect(pair.clientNotes.dropFirst() == [.response(tag: 1, status: 200, body: "")])
    #expect(try #require(pair.responses[1]).headers.fields.isEmpty)
  }

  @Test("200 before the body is in, then RST_STREAM(NO_ERROR): success")
  func earlyAnswer() throws {
    // 100 bytes of window hold the first of two bodies: the second waits in the client when its answer comes.
    let pair = try SessionPair(streamWindow: 100)
    defer { pair.finish() }
    try pair.exchange()
    pair.onHead = { head in
      pair.server.respond(stream: head.stream, status: 200, headers: [("apns-id", "early")], body: [])
    }
    #expect(pair.client.canSubmit(bodyBytes: 1000))  // Alone it may be split.
    pair.submit(1, body: String(repeating: "x", count: 1000))
    try pair.exchange()
    #expect(pair.clientNotes.dropFirst() == [.response(tag: 1, status: 200, body: "")])
    #expect(pair.client.openStreams == 0)
    #expect(pair.serverNotes.last == .closed(1, .noError))
  }

  @Test("a status without END_STREAM and then RST_STREAM(NO_ERROR) is the response; another code is a reset")
  func statusThenReset() throws {
    for (code, expected) in [
      (HTTP2ErrorCode.noError, SessionPair.ClientNote.response(tag: 1, status: 200, body: "part")),
      (.internalError, .reset(tag: 1, code: .internalError, hadStatus: 200)),
      (.refusedStream, .reset(tag: 1, code: .refusedStream, hadStatus: 200)),
    ] {
      let pair = try SessionPair()
      defer { pair.finish() }
      pair.onRequest = { request in
        pair.server.respond(
          stream: request.stream, status: 200, headers: [], body: Array("part".utf8), endStream: false)
      }
      try pair.exchange()
      pair.submit(1)
      try pair.exchange()
      #expect(pair.clientNotes.count == 1)
      pair.server.reset(stream: 1, code: code)
      try pair.exchange()
      #expect(pair.clientNotes.dropFirst() == [expected])
    }
  }

  @Test("REFUSED_STREAM is unprocessed, another reset is a reset")
  func resets() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    pair.submit(1)
    pair.submit(2)
    try pair.exchange()
    pair.server.reset(stream: 1, code: .refusedStream)
    pair.server.reset(stream: 3, code: .internalError)
    try pair.exchange()
    #expect(
      pair.clientNotes.dropFirst() == [
        .reset(tag: 2, code: .internalError, hadStatus: nil), .unprocessed([1]),
      ])
    #expect(pair.client.openStreams == 0)
  }

  @Test("GOAWAY: above the last stream id is unprocessed, the rest goes on, nothing new is opened")
  func goaway() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    for tag in 1...4 as ClosedRange<UInt64> { pair.submit(tag) }
    try pair.exchange()
    pair.server.respond(stream: 1, status: 200, headers: [], body: [])
    pair.server.goaway(lastStreamID: 3, code: .noError, debug: Array("bye".utf8))
    try pair.exchange()
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    pair.server.respond(stream: 3, status: 200, headers: [], body: [])
    try pair.exchange()
    #expect(
      pair.clientNotes.dropFirst() == [
        .response(tag: 1, status: 200, body: ""), .goaway(last: 3, code: .noError, debug: "bye"),
        .unprocessed([3, 4]), .response(tag: 2, status: 200, body: ""),
      ])
    #expect(pair.client.isFinished)
  }

  @Test("a second GOAWAY with a lower last stream id gives up more; what GOAWAY met unsent is unprocessed")
  func goawayTwice() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    for tag in 1...3 as ClosedRange<UInt64> { pair.submit(tag) }
    try pair.exchange()
    pair.server.goaway(lastStreamID: .max, code: .noError, debug: [])
    pair.submit(4)  // Queued before the GOAWAY is seen.
    try pair.serverSpeaks()
    pair.server.goaway(lastStreamID: 1, code: .noError, debug: [])
    try pair.exchange()
    let gone = pair.clientNotes.compactMap { note in
      if case .unprocessed(let tags) = note { tags } else { nil }
    }
    #expect(gone.flatMap { $0 }.sorted() == [2, 3, 4])
    #expect(pair.client.openStreams == 1)
  }

  @Test("SETTINGS 1, then N, then 0, then N")
  func settingsMove() throws {
    let pair = try SessionPair(maxConcurrentStreams: 1)
    defer { pair.finish() }
    try pair.exchange()
    pair.submit(1)
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    try pair.exchange()
    pair.server.setMaxConcurrentStreams(3)
    try pair.exchange()
    #expect(pair.client.canSubmit(bodyBytes: 1))
    pair.submit(2)
    pair.submit(3)
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    try pair.exchange()
    pair.server.setMaxConcurrentStreams(0)
    try pair.exchange()
    for stream in [1, 3, 5] as [Int32] { pair.server.respond(stream: stream, status: 200, headers: [], body: []) }
    try pair.exchange()
    #expect(pair.responses.count == 3)
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    pair.server.setMaxConcurrentStreams(2)
    try pair.exchange()
    #expect(pair.client.canSubmit(bodyBytes: 1))
    let limits = pair.clientNotes.compactMap { note in
      if case .settings(let count) = note { count } else { nil }
    }
    #expect(limits == [1, 3, 0, 2])
  }

  @Test("PING both ways")
  func ping() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    pair.client.ping()
    try pair.exchange()
    #expect(pair.clientNotes.last == .pong)
    #expect(pair.serverNotes.last == .ping)
  }

  @Test("stream ids run out: the session drains, nothing is lost")
  func exhaustion() throws {
    let pair = try SessionPair(firstStreamID: .max - 2)
    defer { pair.finish() }
    pair.onRequest = { pair.server.respond(stream: $0.stream, status: 200, headers: [], body: []) }
    try pair.exchange()
    #expect(!pair.client.streamIDsAreExhausted)
    pair.submit(1)
    pair.submit(2)
    #expect(pair.client.streamIDsAreExhausted)
    #expect(!pair.client.canSubmit(bodyBytes: 1))
    try pair.exchange()
    #expect(pair.responses.count == 2)
  }
}
