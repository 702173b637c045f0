import HTTPServer
import PabalPrimitives
import Testing

@Suite struct WebServerTests {
  @Test func echoesAndNamesTheRequest() async throws {
    try await TestServer.run { server in
      let answer = try await server.exchange(
        "POST /echo/a%2Fb?x=1%2B1&y=a+b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      #expect(answer.contains("Pabal-Request-Id: req_"))
      #expect(answer.hasSuffix(#"{"method":"POST","id":"a/b","query":["x=1+1","y=a b"],"body":"hello"}"#))
      let seen = server.answered.withLock { $0 }
      #expect(seen.map(\.route) == ["/echo/{id}"])
      #expect(seen.map(\.status) == [200])
    }
  }
}
