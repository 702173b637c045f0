import HTTP2
import PabalPrimitives
import Testing

/// The header sections are ours, and nghttp2's server reads them: what it makes of them is the judge.
@Suite("Header sections of requests")
struct HeaderSectionTests {
  private static let token = "bearer " + String(repeating: "eyJhbGciOiJFUzI1NiJ9", count: 10)

  private struct Wanted {
    let template: HTTP2HeaderTemplate
    let headers: [(String, String)]
    let path: String
    let unique: String

    var fields: [String] {
      let pseudo = [
        (":method", "POST"), (":scheme", "https"), (":authority", "api.push.apple.com"), (":path", path),
      ]
      return (pseudo + headers + [("apns-id", unique)]).map { "\($0.0): \($0.1)" }
    }

    init(headers: [(String, String)], path: String, unique: String) {
      self.headers = headers
      self.path = path
      self.unique = unique
      template = HTTP2HeaderTemplate(
        authority: "api.push.apple.com", headers: headers, varying: ["apns-collapse-id"], uniqueHeader: "apns-id")
    }

    init(_ other: Wanted, path: String, unique: String) {
      template = other.template
      headers = other.headers
      self.path = path
      self.unique = unique
    }

    func submit(_ tag: UInt64, to pair: SessionPair, body: String = "{}") {
      pair.client.submit(
        template: template, path: Array(path.utf8), unique: Array(unique.utf8), body: Array(body.utf8), tag: tag)
    }
  }

  private func text(_ randomness: Randomness, _ lengths: ClosedRange<Int>) -> String {
    let count = lengths.lowerBound + Int(randomness.uint64() % UInt64(lengths.count))
    return String(decoding: randomness.fill(count).map { 0x21 + $0 % 94 }, as: UTF8.self)
  }

  @Test("1000 requests of templates that take turns arrive field by field, whatever the peer's table", arguments: 1...8)
  func roundTrip(seed: UInt64) throws {
    let randomness = Randomness.seeded(seed)
    let pair = try SessionPair(maxConcurrentStreams: 1000, connectionWindow: 1 << 24)
    defer { pair.finish() }
    pair.onRequest = { pair.server.respond(stream: $0.stream, status: 200, headers: [], body: []) }
    try pair.exchange()
    let templates = (0..<12).map { number in
      let headers = (0..<Int(randomness.uint64() % 8)).map { index in
        // Names alone tell the last ones apart.
        ("x-\(index)", index > 4 ? "same" : text(randomness, index == 3 ? 3000...3100 : 0...200))
      }
      let collapse = number % 3 == 0 ? [("apns-collapse-id", text(randomness, 1...64))] : []
      return Wanted(headers: [("authorization", Self.token)] + headers + collapse, path: "", unique: "")
    }
    var wanted: [[String]] = []
    while wanted.count < 1000 {
      let before = pair.requests.count
      for _ in 0..<(1 + Int(randomness.uint64() % 40)) {
        let request = Wanted(
          templates[Int(randomness.uint64() % 12)], path: "/" + text(randomness, 0...300),
          unique: text(randomness, 0...200))
        request.submit(UInt64(wanted.count), to: pair)
        wanted.append(request.fields)
      }
      try pair.exchange()
      #expect(pair.requests.count == wanted.count)
      try #require(pair.requests.count > before)
      if randomness.uint64() % 4 == 0 {
        let sizes = (0...Int(randomness.uint64() % 3)).map { _ in [0, 60, 500, 4096, 65_536].randomElement(randomness) }
        pair.server.setHeaderTable(bytes: sizes)
        try pair.exchange()
      }
    }
    pair.requests.sort { $0.stream < $1.stream }
    for (request, fields) in zip(pair.requests, wanted) {
      try #require(request.headers.fields.map { "\($0.name): \($0.value)" } == fields)
    }
    #expect(pair.server.breach == nil)
    #expect(pair.client.openStreams == 0)
  }

  @Test("from the second request on each constant header is one byte, the provider token among them")
  func indexed() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    let request = Wanted(
      headers: [("authorization", Self.token), ("apns-topic", "com.example.app"), ("apns-push-type", "alert")],
      path: "/3/device/" + String(repeating: "a", count: 64), unique: String(repeating: "b", count: 36))
    for tag in 1...3 as ClosedRange<UInt64> { request.submit(tag, to: pair) }
    try pair.exchange()
    let lengths = pair.clientFrames.filter { $0.type == 1 }.map(\.length)
    // Method, scheme and authority; the path's name, length and text; three constants; the unique name as text,
    // five bytes in the shorter form; its value.
    let steady = 3 + 2 + 74 + 3 + (1 + 1 + 6) + 1 + 36
    #expect(lengths.count == 3)
    #expect(lengths[0] > steady + 150)
    #expect(lengths[1...].allSatisfy { (steady - 1...steady).contains($0) })
  }

  @Test("values that vary never enter the table, so that they drive nothing out of it")
  func varying() throws {
    let pair = try SessionPair(maxConcurrentStreams: 1000)
    defer { pair.finish() }
    try pair.exchange()
    for tag in 0..<200 as Range<UInt64> {
      Wanted(
        headers: [("authorization", Self.token), ("apns-collapse-id", "collapse-\(tag)")], path: "/p", unique: "u"
      ).submit(tag, to: pair)
    }
    try pair.exchange()
    #expect(pair.requests.count == 200)
    // The token, more than 100 bytes, went out once.
    #expect(pair.clientFrames.filter { $0.type == 1 && $0.length > 100 }.count == 1)
  }

  @Test("a peer without a table gets every header as text")
  func noTable() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    pair.server.setHeaderTable(bytes: [0])
    try pair.exchange()
    let request = Wanted(headers: [("authorization", Self.token)], path: "/p", unique: "u")
    for tag in 1...3 as ClosedRange<UInt64> { request.submit(tag, to: pair) }
    try pair.exchange()
    #expect(pair.requests.count == 3)
    #expect(pair.requests.allSatisfy { $0.headers.string("authorization") == Self.token })
    #expect(pair.clientFrames.filter { $0.type == 1 }.allSatisfy { $0.length > 100 })
  }

  @Test("a section longer than a frame goes out in CONTINUATION frames, and the next one as usual")
  func continuation() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    let long = Wanted(headers: [], path: "/" + String(repeating: "p", count: 40_000), unique: "u")
    long.submit(1, to: pair)
    Wanted(headers: [], path: "/p", unique: "v").submit(2, to: pair)
    try pair.exchange()
    let ours = pair.clientFrames.filter { $0.type == 1 || $0.type == 9 }
    #expect(ours.map(\.type) == [1, 9, 9, 1])
    #expect(ours.map { $0.flags & 4 } == [0, 0, 4, 4])
    #expect(ours[0].length == 16_384)
    pair.requests.sort { $0.stream < $1.stream }
    #expect(pair.requests.map { $0.headersOverflowed } == [true, false])
    #expect(pair.requests.last?.headers.string(":path") == "/p")
  }

  @Test("a section of a frame's length goes out in one frame, one of a byte more in two")
  func boundary() throws {
    let pair = try SessionPair(maxConcurrentStreams: 1000)
    defer { pair.finish() }
    try pair.exchange()
    for length in 16_340...16_384 {
      let path = "/" + String(repeating: "p", count: length)
      Wanted(headers: [], path: path, unique: "u").submit(UInt64(length), to: pair)
    }
    try pair.exchange()
    var sections: [[Int]] = []
    for frame in pair.clientFrames {
      if frame.type == 1 { sections.append([frame.length]) }
      if frame.type == 9 { sections[sections.count - 1].append(frame.length) }
    }
    let lengths = sections.map { $0.reduce(0, +) }
    #expect(lengths.contains(16_384) && lengths.contains(16_385))
    for (length, section) in zip(lengths, sections) {
      #expect(section == (length <= 16_384 ? [length] : [16_384, length - 16_384]))
    }
    #expect(pair.requests.count == sections.count)
    #expect(pair.server.breach == nil)
  }

  @Test("of a peer's table, however large, 4096 bytes are used")
  func largeTable() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    pair.server.setHeaderTable(bytes: [65_536])
    try pair.exchange()
    let headers = (0..<20).map { ("x-\($0)", String(repeating: "v", count: 300)) }
    for tag in 1...3 as ClosedRange<UInt64> { Wanted(headers: headers, path: "/p", unique: "u").submit(tag, to: pair) }
    try pair.exchange()
    #expect(pair.requests.count == 3)
    #expect(pair.clientFrames.filter { $0.type == 1 }.allSatisfy { $0.length > 2000 })
  }

  @Test("a template that is used no more is not kept")
  func released() throws {
    struct Held {
      weak var template: HTTP2HeaderTemplate?
    }
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    var held: [Held] = []
    for tag in 1...50 as ClosedRange<UInt64> {
      let request = Wanted(headers: [("apns-topic", "topic-\(tag)")], path: "/p", unique: "u")
      held.append(Held(template: request.template))
      request.submit(tag, to: pair)
      try pair.exchange()
    }
    #expect(pair.requests.count == 50)
    #expect(held.count { $0.template != nil } == 1)
  }

  @Test("requests cancelled before they leave take no place in the table")
  func cancelled() throws {
    let pair = try SessionPair()
    defer { pair.finish() }
    try pair.exchange()
    let first = Wanted(headers: [("authorization", Self.token)], path: "/1", unique: "u")
    first.submit(1, to: pair)
    #expect(pair.client.cancel(tag: 1))
    try pair.exchange()
    let second = Wanted(headers: [("authorization", Self.token)], path: "/2", unique: "u")
    for tag in 2...3 as ClosedRange<UInt64> { second.submit(tag, to: pair) }
    try pair.exchange()
    #expect(pair.requests.map { $0.headers.string("authorization") } == [Self.token, Self.token])
    #expect(pair.requests.map { $0.headers.string(":path") } == ["/2", "/2"])
  }
}

extension Array {
  fileprivate func randomElement(_ randomness: Randomness) -> Element {
    self[Int(randomness.uint64() % UInt64(count))]
  }
}
