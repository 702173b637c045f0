import HTTPServer
import PabalPrimitives

/// An echo server on a free port, with a clock that stands still unless a test moves it.
struct TestServer {
  let server: WebServer
  let port: UInt16
  let clock: ManualClock
  let answered: Locked<[WebServerHooks.Answered]>

  static func run(
    limits: WebServerLimits = WebServerLimits(), allowedHosts: [String]? = nil, routes: [Route] = [],
    _ body: (TestServer) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    let answered = Locked<[WebServerHooks.Answered]>([])
    let hooks = WebServerHooks(answered: { one in answered.withLock { $0.append(one) } })
    let configuration = WebServerConfiguration(
      limits: limits, allowedHosts: allowedHosts, clock: clock.clock, randomness: .seeded(7), ticker: .manual,
      hooks: hooks)
    let server = WebServer(configuration: configuration, router: Router(echo + routes))
    let port = try server.start()
    // The server's own check at the start must not be counted as a client.
    while server.openConnections > 0 || server.openRequests > 0 { await Task.yield() }
    do {
      try await body(TestServer(server: server, port: port, clock: clock, answered: answered))
    } catch {
      await server.stop(grace: .zero)
      throw error
    }
    await server.stop(grace: .zero)
  }

  /// `/echo/{id}` answers what the handler saw.
  static let echo: [Route] = [HTTPMethod.get, .post, .put, .delete].map { method in
    Route(method, "/echo/{id}", RouteOperation("echo\(method.rawValue)", "Echo")) { request in
      .json(
        200,
        [
          "method": .string(request.method.rawValue), "id": .string(request.parameters["id"] ?? ""),
          "query": .array(request.query.map { .string("\($0.name)=\($0.value)") }),
          "body": .string(String(decoding: request.body, as: UTF8.self)),
        ])
    }
  }

  /// Sends `text` on a new connection and returns the whole answer.
  func exchange(_ text: String) async throws -> String {
    try await exchange(Array(text.utf8))
  }

  func exchange(_ bytes: [UInt8]) async throws -> String {
    let client = try RawClient(port: port)
    defer { client.close() }
    client.send(bytes)
    client.endSending()
    return await client.receiveAll()
  }
}
