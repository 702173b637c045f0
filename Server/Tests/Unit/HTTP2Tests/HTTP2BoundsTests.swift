import HTTP2
import PabalPrimitives
import Testing

@Suite("HTTP/2 bounds")
struct HTTP2BoundsTests {
  @Test("a request body beyond the limit is cut and flagged")
  func requestBody() throws {
    let pair = try SessionPair(requestBodyLimit: 8)
    defer { pair.finish() }
    try pair.exchange()
    pair.submit(1, body: "12345678")
    pair.submit(2, body: "123456789")
    try pair.exchange()
    #expect(pair.requests.map(\.bodyOverflowed) == [false, true])
    #expect(pair.requests.map(\.body.count) == [8, 8])
  }

  @Test("a response body beyond the limit is cut and flagged")
  func responseBody() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    let long = [UInt8](repeating: 0x78, count: HTTP2Limits.responseBodyBytes + 1)
    pair.onRequest = { pair.server.respond(stream: $0.stream, status: 500, headers: [], body: long) }
    try pair.exchange()
    pair.submit(1)
    try pair.exchange()
    let response = try #require(pair.responses[1])
    #expect(response.bodyIsCut)
    #expect(response.body.count == HTTP2Limits.responseBodyBytes)
  }

  @Test("a header section beyond the limit is cut and flagged")
  func headerList() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    let wide = HTTP2HeaderTemplate(
      authority: "a", headers: (0..<5).map { ("x-\($0)", String(repeating: "y", count: 4000)) }, uniqueHeader: "u")
    pair.client.submit(template: wide, path: Array("/".utf8), unique: [0x31], body: [], tag: 1)
    try pair.exchange()
    let request = try #require(pair.requests.first)
    #expect(request.headersOverflowed)
    #expect(request.headers.first("x-0") != nil)
    #expect(request.headers.first("x-4") == nil)
  }

  @Test("PING flood and rapid reset end by ENHANCE_YOUR_CALM", arguments: ["ping", "reset"])
  func floods(kind: String) throws {
    let pair = try SessionPair(flood: FloodBudget(burst: 50, perSecond: 10))
    defer { pair.finish() }
    try pair.exchange()
    func attack(_ tag: UInt64) throws {
      if kind == "ping" {
        pair.client.ping()
      } else {
        pair.submit(tag)
        try pair.clientSpeaks()
        _ = pair.client.cancel(tag: tag)
      }
      try pair.clientSpeaks()
    }
    for tag in 0..<40 as Range<UInt64> { try attack(tag) }
    #expect(pair.server.breach == nil)
    pair.now = .zero.advanced(by: .seconds(3))  // 30 more are allowed.
    for tag in 40..<75 as Range<UInt64> { try attack(tag) }
    #expect(pair.server.breach == nil)
    for tag in 75..<100 as Range<UInt64> { try attack(tag) }
    try pair.exchange()
    #expect(pair.server.breach == .enhanceYourCalm)
    #expect(pair.server.isFinished)
    #expect(
      pair.clientNotes.contains { note in
        if case .goaway(_, .enhanceYourCalm, _) = note { true } else { false }
      })
  }

  @Test("bytes that are not HTTP/2 end both sides with an error", arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n"])
  func notHTTP2(text: String) throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    let bytes = Array(text.utf8)
    #expect(throws: HTTP2SessionError.self) {
      try bytes.withUnsafeBytes { try pair.server.receive($0, now: .zero) }
    }
    // nghttp2 answers a client's nonsense by GOAWAY, which is the same to us.
    var failed = false
    do {
      try bytes.withUnsafeBytes { try pair.client.receive($0, now: .zero) }
      try pair.client.drain { _ in }
      failed = pair.client.breach != nil
    } catch {
      failed = true
    }
    #expect(failed)
  }
}

@Suite("HTTP/2 flow of bodies")
struct HTTP2FlowTests {
  @Test("no body is split by flow control, and the gate opens when the window does")
  func gate() throws {
    let pair = try SessionPair(maxConcurrentStreams: 1000, connectionWindow: 65_535)
    defer { pair.finish() }
    try pair.exchange()
    let body = String(repeating: "x", count: 4096)
    var tag: UInt64 = 0
    while pair.client.canSubmit(bodyBytes: 4096) {
      tag += 1
      pair.submit(tag, body: body)
    }
    #expect(tag == 15)  // 15 × 4096 ≤ 65,535 < 16 × 4096
    #expect(pair.client.canSubmit(bodyBytes: 4095))
    #expect(!pair.client.canSubmit(bodyBytes: 4096))
    try pair.exchange()
    #expect(pair.clientNotes.contains(.windowOpened))
    #expect(pair.client.canSubmit(bodyBytes: 4096))
    let data = pair.clientFrames.filter { $0.type == 0 }
    #expect(data.count == 15)
    #expect(data.allSatisfy { $0.length == 4096 && $0.flags & 1 == 1 })
  }

  @Test("a cancelled request gives its window back, sent or not, and nothing more is told of it")
  func cancel() throws {
    let pair = try SessionPair(connectionWindow: 65_535)
    defer { pair.finish() }
    try pair.exchange()
    let body = String(repeating: "x", count: 60_000)
    pair.submit(1, body: body)
    #expect(!pair.client.canSubmit(bodyBytes: 60_000))
    _ = pair.client.cancel(tag: 1)
    try pair.exchange()
    #expect(pair.client.openStreams == 0)
    #expect(pair.requests.isEmpty)
    #expect(pair.client.canSubmit(bodyBytes: 60_000))
    pair.submit(2)
    try pair.exchange()
    _ = pair.client.cancel(tag: 2)
    try pair.exchange()
    #expect(pair.serverNotes.last == .closed(3, .cancel) || pair.serverNotes.last == .closed(1, .cancel))
    #expect(pair.clientNotes.filter { $0 != .windowOpened }.count == 1)
    #expect(pair.client.abandon() == ([], []))
  }

  @Test("what the kernel took is told in order, and decides between lost and unsent")
  func taken() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    let start = pair.client.totalBytesDrained
    for tag in 1...3 as ClosedRange<UInt64> { pair.submit(tag) }
    #expect(pair.client.kernelTook(before: .max).isEmpty)  // Still inside nghttp2.
    try pair.exchange()
    #expect(pair.client.kernelTook(before: start).isEmpty)
    #expect(pair.client.kernelTook(before: start + 1) == [1])
    let second = start + UInt64(9 + pair.clientFrames.first { $0.type == 1 && $0.stream == 1 }!.length)
    #expect(pair.client.kernelTook(before: second).isEmpty)
    #expect(pair.client.kernelTook(before: second + 1) == [2])
    pair.submit(4)
    #expect(pair.client.abandon() == ([1, 2], [3, 4]))
    #expect(pair.client.abandon() == ([], []))
  }

  @Test("an answer that had begun when the connection ended keeps its status")
  func begun() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    for tag in 1...3 as ClosedRange<UInt64> { pair.submit(tag) }
    pair.onRequest = { request in
      guard request.stream != 3 else { return }
      pair.server.respond(
        stream: request.stream, status: request.stream == 1 ? 200 : 410, headers: [], body: [], endStream: false)
    }
    try pair.exchange()
    _ = pair.client.kernelTook(before: .max)
    pair.clientNotes = []
    #expect(pair.client.abandon() == ([2], []))
    let told = [(1, 200), (3, 410)].map { SessionPair.ClientNote.reset(tag: $0, code: .cancel, hadStatus: $1) }
    #expect(pair.clientNotes == told)
  }
}
