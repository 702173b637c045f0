import HTTPServer
import PabalPrimitives
import Testing

/// One request for each row of what libmicrohttpd lets through, over a real socket: bytes in, status and code out.
@Suite struct GuardCorpusTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let request: String
    let status: Int
    let code: String?
    var testDescription: String { name }

    init(_ name: String, _ status: Int, _ code: String?, _ request: String) {
      self.name = name
      self.request = request
      self.status = status
      self.code = code
    }
  }

  static let framing = [
    Case(
      "a fold renames Content-Lengt", 400, "header_folded",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Lengt: 5\r\n h\r\n\r\nhello"),
    Case(
      "a fold renames Authorizatio", 400, "header_folded",
      "GET /echo/1 HTTP/1.1\r\nHost: h\r\nAuthorizatio: Bearer x\r\n\tn\r\n\r\n"),
    Case(
      "a fold of the last header", 400, "header_folded",
      "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"),
    Case(
      "a fold with an empty value", 400, "header_folded",
      "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX:\r\n b\r\n\r\n"),
    Case(
      "TE and CL", 400, "framing_ambiguous",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    Case(
      "two different CL", 400, "header_repeated",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    Case(
      "two equal CL", 400, "header_repeated",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    Case(
      "two TE", 400, "header_repeated",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    Case(
      "TE identity", 400, "framing_unsupported",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\nhello"),
    Case(
      "TE xchunked", 400, "framing_unsupported",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    Case(
      "TE gzip, chunked", 400, "framing_unsupported",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    Case(
      "TE in HTTP/1.0", 400, "framing_unsupported",
      "POST /echo/1 HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    Case(
      "a blank before the colon", 400, "header_name_invalid",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nGET /x HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(
      "a body over the limit", 413, "body_too_large",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"),
  ]

  static let headers = [
    Case("two Host", 400, "header_repeated", "GET /echo/1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    Case(
      "two Authorization", 400, "header_repeated",
      "GET /echo/1 HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nauthorization: b\r\n\r\n"),
    Case(
      "two Idempotency-Key", 400, "header_repeated",
      "GET /echo/1 HTTP/1.1\r\nHost: a\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n"),
    Case("no Host", 400, "host_missing", "GET /echo/1 HTTP/1.1\r\n\r\n"),
    Case("no Host in HTTP/1.0", 200, nil, "GET /echo/1 HTTP/1.0\r\n\r\n"),
    Case("a bare CR in a value", 400, "header_value_invalid", "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"),
    Case("a control character", 400, "header_value_invalid", "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n"),
    Case("DEL in a value", 400, "header_value_invalid", "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX: a\u{7F}\r\n\r\n"),
    Case("a name that is no token", 400, "header_name_invalid", "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX(y): a\r\n\r\n"),
    Case("Expect: banana", 417, "expectation_failed", "GET /echo/1 HTTP/1.1\r\nHost: h\r\nExpect: banana\r\n\r\n"),
    Case(
      "a content coding", 415, "content_encoding",
      "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
    Case("Upgrade is not followed", 200, nil, "GET /echo/1 HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n\r\n"),
    Case("UTF-8 in a value", 200, nil, "GET /echo/1 HTTP/1.1\r\nHost: h\r\nX: 가\r\n\r\n"),
    Case("no blank after the colon", 200, nil, "GET /echo/1 HTTP/1.1\r\nHost:h\r\nX:\r\nY: \t b \t\r\n\r\n"),
  ]

  static let targets = [
    Case("%2F is data", 200, nil, "GET /echo/a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("%00", 400, "target_invalid", "GET /echo/a%00b HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("%00 in the query", 400, "target_invalid", "GET /echo/1?a=%00 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("a bad %", 400, "target_invalid", "GET /echo/a%4 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("a bad % digit", 400, "target_invalid", "GET /echo/a%4g HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("not UTF-8", 400, "target_invalid", "GET /echo/%ff HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("an overlong slash", 400, "target_invalid", "GET /echo/%c0%af HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("//", 400, "target_invalid", "GET //echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("..", 400, "target_invalid", "GET /echo/.. HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("an id of two dots, encoded", 200, nil, "GET /echo/%2E%2E HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("#", 400, "target_invalid", "GET /echo/1#x HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("absolute form", 400, "target_invalid", "GET http://h/echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("asterisk form", 400, "target_invalid", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case(
      "65 arguments", 400, "target_invalid",
      "GET /echo/1?\((0..<65).map { "a\($0)=1" }.joined(separator: "&")) HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("HTTP/1.2", 505, "version_unsupported", "GET /echo/1 HTTP/1.2\r\nHost: h\r\n\r\n"),
    Case("a lower-case method", 501, "method_unknown", "get /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("TRACE", 501, "method_unknown", "TRACE /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("a method without a route", 405, "method_not_allowed", "PATCH /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"),
    Case("no route", 404, "route_not_found", "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n"),
  ]

  @Test("guards", arguments: framing + headers + targets)
  func refusal(_ one: Case) async throws {
    try await TestServer.run { server in
      let answer = try await server.exchange(one.request)
      #expect(answer.hasPrefix("HTTP/1.1 \(one.status) "), "\(answer)")
      #expect(answer.contains("Pabal-Request-Id: req_"), "\(answer)")
      if let code = one.code { #expect(answer.contains(#""code":"\#(code)""#), "\(answer)") }
      // A smuggled second request would be answered as well.
      #expect(answer.split(separator: "Pabal-Request-Id: ").count == 2, "\(answer)")
    }
  }

  @Test("a NUL in the path or a value is cut by the library and reaches no route that it does not name")
  func nul() async throws {
    try await TestServer.run { server in
      let path = try await server.exchange("GET /echo/1\u{0}/../admin HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(!path.contains("admin"))
      #expect(path.hasPrefix("HTTP/1.1 200 ") || path.hasPrefix("HTTP/1.1 4"))
    }
  }

  @Test func aBodyInChunksIsOneBody() async throws {
    try await TestServer.run { server in
      let answer = try await server.exchange(
        "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      #expect(answer.contains(#""body":"hello world""#))
    }
  }

  @Test("a chunked body over the limit is read on, answered 413, and dropped at four times the limit")
  func chunkedOverTheLimit() async throws {
    var limits = WebServerLimits()
    limits.bodyBytes = 1000
    try await TestServer.run(limits: limits) { server in
      let head = "POST /echo/1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      let chunk = "3e8\r\n\(String(repeating: "x", count: 1000))\r\n"
      let twice = try await server.exchange(head + chunk + chunk + "0\r\n\r\n")
      #expect(twice.hasPrefix("HTTP/1.1 413 "))
      let often = try await server.exchange(head + String(repeating: chunk, count: 6))
      #expect(often.isEmpty)
    }
  }

  @Test func exactlyTheLimitIsTaken() async throws {
    var limits = WebServerLimits()
    limits.bodyBytes = 1000
    try await TestServer.run(limits: limits) { server in
      func post(_ count: Int) async throws -> String {
        try await server.exchange(
          "POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n\(String(repeating: "x", count: count))")
      }
      let (fits, tooLong) = (try await post(1000), try await post(1001))
      #expect(fits.hasPrefix("HTTP/1.1 200 "))
      #expect(tooLong.hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test("Expect: 100-continue: the body is asked for, or refused before it is sent")
  func expectContinue() async throws {
    try await TestServer.run { server in
      let taken = try RawClient(port: server.port)
      defer { taken.close() }
      taken.send("POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
      #expect(await taken.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
      taken.send("ok")
      #expect(await taken.receive(until: "\"body\":\"ok\"").hasPrefix("HTTP/1.1 200 "))
      let refused = try RawClient(port: server.port)
      defer { refused.close() }
      refused.send("POST /echo/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n")
      #expect(await refused.receive(until: "body_too_large").hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func foreignHostsAreRefused() async throws {
    try await TestServer.run(allowedHosts: ["127.0.0.1", "localhost", "[::1]"]) { server in
      func get(_ host: String) async throws -> String {
        try await server.exchange("GET /echo/1 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      }
      for host in ["127.0.0.1:8420", "LOCALHOST", "[::1]:1"] {
        let answer = try await get(host)
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(host)")
      }
      for host in ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "a@localhost"] {
        let answer = try await get(host)
        #expect(!answer.hasPrefix("HTTP/1.1 200 "), "\(host)")
      }
      let foreign = try await get("evil.example:8420")
      #expect(foreign.contains("host_not_allowed"))
      let none = try await server.exchange("GET /echo/1 HTTP/1.0\r\n\r\n")
      #expect(none.contains("host_missing"))
    }
  }

  @Test func oneAddressMayNotTakeEveryConnection() async throws {
    var limits = WebServerLimits()
    limits.connectionsPerAddress = 2
    try await TestServer.run(limits: limits) { server in
      let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
      for client in clients {
        client.send("GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(await client.receive(until: "}").hasPrefix("HTTP/1.1 200 "))
      }
      let third = try RawClient(port: server.port)
      third.send("GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(await third.receive().isEmpty)
      for client in clients + [third] { client.close() }
    }
  }
}
