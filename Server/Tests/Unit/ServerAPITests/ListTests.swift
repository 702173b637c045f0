import HTTPServer
import PabalPrimitives
import Testing

@Suite struct ListTests {
  /// All members of a list, page by page.
  private func walk(
    _ api: TestAPI, _ target: String, limit: Int, between: () async throws -> Void = {}
  ) async throws -> [String] {
    var ids: [String] = []
    var cursor: String?
    for _ in 0..<50 {
      let mark = target.contains("?") ? "&" : "?"
      let reply = try await api.call(
        .get, "\(target)\(mark)limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? ""))
      #expect(reply.status == 200, "\(reply.text)")
      ids += reply["data"]?.elements.compactMap { $0["id"]?.string } ?? []
      cursor = reply["nextCursor"]?.string
      #expect(reply["hasMore"]?.bool == (cursor != nil))
      if cursor == nil { return ids }
      try await between()
    }
    Issue.record("the list does not end")
    return ids
  }

  @Test func `messages and deliveries come in pages that inserts do not disturb`() async throws {
    let api = try await TestAPI()
    try await api.register("u", TestAPI.token(1))
    try await api.register("u", TestAPI.token(2))
    var sent: [String] = []
    for number in 0..<7 {
      sent.append(try await api.talentRequest("u", request: "r\(number)")["messageId"]?.string ?? "")
    }
    var extra = 100
    let messages = try await walk(api, "/v1/messages?userId=u", limit: 3) {
      extra += 1
      try await api.talentRequest("u", request: "r\(extra)")
    }
    #expect(messages == sent.reversed())
    let deliveries = try await walk(api, "/v1/deliveries?userId=u", limit: 4)
    #expect(deliveries.count == Set(deliveries).count)
    #expect(deliveries.count == 2 * (7 + extra - 100))
    let own = try await walk(api, "/v1/messages/\(sent[0])/deliveries", limit: 1)
    #expect(own.count == 2)
    #expect(try await walk(api, "/v1/deliveries?messageId=\(sent[0])&userId=u", limit: 1) == own)
  }

  @Test func `devices come in pages, also when the last one shown has gone`() async throws {
    let api = try await TestAPI()
    for number in 1...5 { try await api.register("u", TestAPI.token(number)) }
    let all = try await walk(api, "/v1/devices?userId=u", limit: 200)
    #expect(all.count == 5)
    #expect(try await walk(api, "/v1/devices?userId=u", limit: 2) == all)
    let first = try await api.call(.get, "/v1/devices?userId=u&limit=2")
    try await api.register("v", TestAPI.token(2))
    let cursor = try #require(first["nextCursor"]?.string)
    let rest = try await api.call(.get, "/v1/devices?userId=u&cursor=\(cursor)")
    #expect(rest["data"]?.elements.compactMap { $0["id"]?.string } == Array(all.suffix(3)))
  }

  @Test func `a cursor is for its own list, for a day`() async throws {
    let api = try await TestAPI()
    for number in 1...3 { try await api.register("u", TestAPI.token(number)) }
    let cursor = try #require(try await api.call(.get, "/v1/devices?userId=u&limit=1")["nextCursor"]?.string)
    for target in [
      "/v1/devices?userId=v&cursor=\(cursor)", "/v1/messages?userId=u&cursor=\(cursor)",
      "/v1/devices?userId=u&cursor=x",
      "/v1/devices?userId=u&cursor=", "/v1/devices?userId=u&cursor=e30",
    ] {
      let reply = try await api.call(.get, target)
      #expect(reply.status == 400, "\(target)")
      #expect(reply.code == "parameter_invalid", "\(target)")
      #expect(reply.json["error"]?["param"]?.string == "cursor", "\(target)")
    }
    api.clock.advance(by: .seconds(86_401))
    let late = try await api.call(.get, "/v1/devices?userId=u&cursor=\(cursor)")
    #expect(late.status == 400)
    #expect(late.code == "cursor_expired")
  }
}
