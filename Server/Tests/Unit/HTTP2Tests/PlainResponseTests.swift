import HTTP2
import Testing

@Suite("Responses told in bulk, and many requests at once")
struct PlainResponseTests {
  /// Answers the request of tag N (path /3/device/N) by `answers[N]`.
  private func exchange(
    _ pair: SessionPair, _ answers: [UInt64: (status: Int, headers: [(String, String)], body: String)]
  ) throws {
    pair.onRequest = { request in
      let path = request.headers.string(":path") ?? ""
      guard let tag = UInt64(path.dropFirst("/3/device/".count)), let answer = answers[tag] else { return }
      pair.server.respond(
        stream: request.stream, status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
    }
    try pair.exchange()
    for tag in answers.keys.sorted() { pair.submit(tag) }
    try pair.exchange()
  }

  @Test("200s without kept headers and body come together, in order, and before what came after them")
  func bulk() throws {
    let pair = try SessionPair(keptHeaders: ["apns-unique-id"], plainStatus: 200)
    defer { pair.finish() }
    try exchange(
      pair,
      [
        1: (200, [("apns-id", "id-1")], ""), 2: (200, [], ""), 3: (400, [], "no"),
        4: (200, [("apns-unique-id", "u")], ""),
        5: (200, [("apns-id", "id-5")], "body"), 6: (200, [("date", "now")], ""),
      ])
    #expect(
      pair.clientNotes.dropFirst() == [
        .plainResponses([1, 2]), .response(tag: 4, status: 200, body: ""), .plainResponses([6]),
        // Bodies come after all heads.
        .response(tag: 3, status: 400, body: "no"), .response(tag: 5, status: 200, body: "body"),
      ])
    #expect(pair.responses[4]?.headers.fields.map(\.value) == ["u"])
    #expect(pair.responses[5]?.headers.count == 0)
    #expect(pair.client.openStreams == 0)
  }

  @Test("the room of a session is what canSubmit would allow: streams, connection window, stream window, ids")
  func room() throws {
    let pair = try SessionPair(maxConcurrentStreams: 3, connectionWindow: 65_535, streamWindow: 1000)
    defer { pair.finish() }
    #expect(count([1], in: pair.client.room) == 0)
    try pair.exchange()
    #expect(count([1001], in: pair.client.room) == 0)
    #expect(count([1000, 1000, 1000, 1], in: pair.client.room) == 3)
    for tag in 1...3 as ClosedRange<UInt64> { pair.submit(tag) }
    #expect(count([1], in: pair.client.room) == 0)
    #expect(!pair.client.canSubmit(bodyBytes: 1))

    let last = try SessionPair(firstStreamID: .max - 2)
    defer { last.finish() }
    try last.exchange()
    #expect(count([1, 1, 1], in: last.client.room) == 2)
  }

  /// How many of these bodies find room, one after another.
  private func count(_ bodies: [Int], in room: RequestRoom) -> Int {
    var room = room
    return bodies.prefix { room.take(bodyBytes: $0) }.count
  }

  @Test(
    "a thousand requests open at once, large headers among them, leave the session as it was", .timeLimit(.minutes(1)))
  func memory() throws {
    let pair = try SessionPair(maxConcurrentStreams: 1000, connectionWindow: 1 << 24)
    defer { pair.finish() }
    let wide = HTTP2HeaderTemplate(
      authority: "a", headers: [("x-wide", String(repeating: "w", count: 6000))], uniqueHeader: "apns-id")
    pair.onRequest = { request in
      pair.server.respond(stream: request.stream, status: 200, headers: [("apns-id", "x")], body: Array("ok".utf8))
    }
    try pair.exchange()
    for round in 0..<3 as Range<UInt64> {
      for index in 0..<1000 as Range<UInt64> {
        let tag = round * 1000 + index
        if index % 100 == 7 {
          pair.client.submit(template: wide, path: Array("/w".utf8), unique: [0x31], body: [0x32], tag: tag)
        } else {
          pair.submit(tag, body: String(repeating: "b", count: Int(index)))
        }
      }
      try pair.exchange()
    }
    #expect(pair.responses.count == 3000)
    #expect(pair.responses.values.allSatisfy { $0.status == 200 && $0.body == Array("ok".utf8) })
    #expect(pair.requests.count == 3000)
    #expect(pair.requests.allSatisfy { $0.body.count <= 1000 })
    #expect(pair.client.openStreams == 0)
  }
}
