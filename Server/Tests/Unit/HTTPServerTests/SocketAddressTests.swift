import HTTPServer
import PabalPrimitives
import TestSupport
import Testing

/// The question that a server asks itself at its start.
@Suite struct SocketAddressTests {
  @Test("who is asked and says nothing does not hold the start up") func silence() async throws {
    let silent = try SilentPort()
    defer { silent.end() }
    let address = try SocketAddress(host: "127.0.0.1", port: 0)
    let answer = await OwnThread.run {
      address.ask(port: silent.port, Array("GET / HTTP/1.1\r\n\r\n".utf8), maximum: 64, limit: .milliseconds(5))
    }
    #expect(answer == [])
  }

  @Test("the answer's first line is enough") func answered() async throws {
    try await TestServer.run { server in
      let address = try SocketAddress(host: "127.0.0.1", port: 0)
      let (port, request) = (server.port, Array("GET /echo/1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8))
      let answer = await OwnThread.run { address.ask(port: port, request, maximum: 15, limit: .seconds(180)) }
      #expect(answer.map { String(decoding: $0, as: UTF8.self) } == "HTTP/1.1 200 OK")
    }
  }
}
