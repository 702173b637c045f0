import Glibc
import HTTPServer
import PabalPrimitives
import Testing

/// The question that a server asks itself at its start.
@Suite struct SocketAddressTests {
  /// A port that takes connections into its backlog and never says a word.
  private func withSilentPort(_ body: (UInt16) async throws -> Void) async throws {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    try #require(isBound)
    try await body(UInt16(bigEndian: address.sin_port))
  }

  @Test("who is asked and says nothing does not hold the start up") func silence() async throws {
    try await withSilentPort { port in
      let address = try SocketAddress(host: "127.0.0.1", port: 0)
      let answer = await OwnThread.run {
        address.ask(port: port, Array("GET / HTTP/1.1\r\n\r\n".utf8), maximum: 64, limit: .milliseconds(5))
      }
      #expect(answer == [])
    }
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
