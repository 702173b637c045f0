import Foundation
import PabalCore
import PabalPrimitives
import Testing

/// The live client against a real server on loopback.
@Suite(.serialized, .timeLimit(.minutes(1))) final class URLSessionHTTPTests {
  private let http = HTTPClient.urlSession()
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("download-" + UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // The test wrote nothing.
    }
  }

  private func destination() -> URL {
    folder.appendingPathComponent(UUID().uuidString)
  }

  private func download(_ url: URL, redirects: Int = 5, limit: Int = 1000) -> HTTPDownload {
    HTTPDownload(
      url: url, destination: destination(), maximumRedirects: redirects, maximumBytes: { _ in limit },
      allows: { $0.host == "127.0.0.1" })
  }

  @Test func `a call arrives as it was made, and so does its answer`() async throws {
    let server = try LoopbackServer { _ in
      LoopbackServer.response(202, ["X-Reply: one"], Array(#"{"ok":true}"#.utf8))
    }
    let answer = try await http.send(
      HTTPCall(
        method: "PUT", url: try server.url("/v1/devices?userId=A%20B"),
        headers: ["Authorization": "Bearer pp_test_1", "Content-Type": "application/json"],
        body: Array(#"{"지원":1}"#.utf8)))
    #expect(answer.status == 202)
    #expect(answer.headers["x-reply"] == "one")
    #expect(String(decoding: answer.body, as: UTF8.self) == #"{"ok":true}"#)
    let request = try #require(server.requests.first)
    #expect(request.line == "PUT /v1/devices?userId=A%20B HTTP/1.1")
    #expect(request.headers["authorization"] == "Bearer pp_test_1")
    #expect(request.headers["cookie"] == nil)
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"지원":1}"#)
  }

  @Test func `no cookie and no cache from one call to the next`() async throws {
    let server = try LoopbackServer { _ in
      LoopbackServer.response(200, ["Set-Cookie: a=b; Path=/", "Cache-Control: max-age=3600"], [0x31])
    }
    for _ in 0..<2 { _ = try await http.send(HTTPCall(method: "GET", url: try server.url("/x"))) }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.headers["cookie"] == nil })
  }

  @Test func `errors of the server are answers, a missing server is a failure`() async throws {
    let port: UInt16
    do {
      let server = try LoopbackServer { _ in LoopbackServer.response(503) }
      port = server.port
      #expect(try await http.send(HTTPCall(method: "GET", url: try server.url("/"))).status == 503)
    }
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    await #expect(throws: HTTPFailure.self) { try await http.send(HTTPCall(method: "GET", url: url)) }
  }

  @Test func `a call ends with its task`() async throws {
    let ended = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { _ in
      ended.wait()
      return []
    }
    let url = try server.url("/slow")
    let http = http
    let task = Task { try await http.send(HTTPCall(method: "GET", url: url)) }
    while server.requests.isEmpty { await Task.yield() }
    task.cancel()
    await #expect(throws: HTTPFailure.self) { try await task.value }
    ended.signal()
  }

  @Test func `a file is put where it was asked for`() async throws {
    let content = (0..<900).map { UInt8(truncatingIfNeeded: $0) }
    let server = try LoopbackServer { _ in
      LoopbackServer.response(200, ["Content-Type: image/png; charset=x"], content)
    }
    let order = download(try server.url("/a"))
    let file = try await http.download(order)
    #expect(file.status == 200)
    #expect(file.mimeType == "image/png")
    #expect(file.bytes == 900)
    #expect(Array(try Data(contentsOf: order.destination)) == content)
  }

  @Test func `a file above the limit is refused, with a length and without one`() async throws {
    let server = try LoopbackServer { request in
      let body = [UInt8](repeating: 7, count: 500_000)
      guard request.path == "/streamed" else { return LoopbackServer.response(200, [], body) }
      return Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + body
    }
    for path in ["/sized", "/streamed"] {
      let order = download(try server.url(path), limit: 10_000)
      await #expect { try await http.download(order) } throws: { ($0 as? HTTPFailure)?.kind == .tooLarge }
      #expect(!FileManager.default.fileExists(atPath: order.destination.path))
    }
  }

  @Test func `five redirects are followed, the sixth is not`() async throws {
    let server = try LoopbackServer { request in
      let step = Int(request.path.dropFirst()) ?? 0
      return step == 0
        ? LoopbackServer.response(200, [], [1]) : LoopbackServer.response(302, ["Location: /\(step - 1)"])
    }
    #expect(try await http.download(download(try server.url("/5"))).bytes == 1)
    let order = download(try server.url("/6"))
    await #expect { try await http.download(order) } throws: { ($0 as? HTTPFailure)?.kind == .tooManyRedirects }
  }

  @Test func `a redirect to an address that is not allowed ends the download`() async throws {
    let server = try LoopbackServer { _ in LoopbackServer.response(302, ["Location: http://localhost:1/x"]) }
    let order = download(try server.url("/"))
    await #expect { try await http.download(order) } throws: { ($0 as? HTTPFailure)?.kind == .addressRefused }
    let first = HTTPDownload(
      url: try server.url("/"), destination: destination(), maximumRedirects: 5, maximumBytes: { _ in 1 },
      allows: { _ in false })
    await #expect { try await http.download(first) } throws: { ($0 as? HTTPFailure)?.kind == .addressRefused }
    #expect(server.requests.count == 1)
  }
}
