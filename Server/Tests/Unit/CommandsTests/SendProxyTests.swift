import ArgumentParsing
import Commands
import HTTP2Connections
import Testing

@Suite struct SendProxyTests {
  private static let host = "api.push.apple.com"

  @Test(
    "the environment names a proxy, and the hosts that need none",
    arguments: [
      (["HTTPS_PROXY": "http://p:3128"], "p:3128"), (["https_proxy": "p"], "p:8080"), (["HTTPS_PROXY": ""], nil),
      (["HTTPS_PROXY": "", "https_proxy": "http://q:1"], "q:1"), (["HTTP_PROXY": "http://p:1"], nil),
      (["HTTPS_PROXY": "http://p:1", "NO_PROXY": "push.apple.com"], nil),
      (["HTTPS_PROXY": "http://p:1", "no_proxy": "a, .APPLE.com:443"], nil),
      (["HTTPS_PROXY": "http://p:1", "NO_PROXY": "*.apple.com"], nil),
      (["HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"], nil),
      (["HTTPS_PROXY": "http://p:1", "NO_PROXY": "ush.apple.com,example.com,,"], "p:1"),
      ([:], nil),
    ] as [([String: String], String?)])
  func byEnvironment(environment: [String: String], expected: String?) throws {
    #expect(try SendProxy.find(environment: environment, host: Self.host)?.description == expected)
  }

  @Test(arguments: ["127.0.0.1", "127.9.9.9", "localhost", "::1"]) func loopbackNeedsNone(host: String) throws {
    #expect(try SendProxy.find(environment: ["HTTPS_PROXY": "http://p:1"], host: host) == nil)
    #expect(try SendProxy.find(environment: ["HTTPS_PROXY": "http://p:1"], host: "127.example.com") != nil)
  }

  @Test func aBadAddressNamesItsVariable() {
    let error = #expect(throws: UsageError.self) {
      try SendProxy.find(environment: ["https_proxy": "socks5://p:1"], host: Self.host)
    }
    #expect(error?.message.contains("https_proxy: ") == true)
    #expect(error?.message.contains("http://host:port") == true)
  }
}
