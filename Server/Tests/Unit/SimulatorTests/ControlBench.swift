import HTTPServer
import PabalPrimitives
import Simulator
import Testing

/// The control API over a bench's core, without a port.
struct ControlBench {
  let bench: PushBench
  let core: Locked<StandInCore>
  let router: Router
  let waited = Locked<[Int]>([])
  /// What control calls wanted done on connections.
  let acted = Locked<[StandInAction]>([])

  init() throws {
    bench = try PushBench()
    let core = Locked(bench.core)
    self.core = core
    let (waited, acted) = (waited, acted)
    let control = StandInControl(
      core: core, links: LinkBoard(), topic: PushBench.topic,
      act: { actions in acted.withLock { $0 += actions } },
      wait: { milliseconds in waited.withLock { $0.append(milliseconds) } })
    router = Router(control.routes(prefix: "/v1/simulator"))
  }

  func call(
    _ method: HTTPMethod, _ path: String, _ body: String = "", headers: [HTTPField] = []
  ) async throws -> (status: Int, json: JSONSlice?) {
    let response = try await raw(method, path, body, headers: headers)
    guard let bytes = response.bytes, !bytes.isEmpty else { return (response.status, nil) }
    return (response.status, try JSONSlice(parsing: bytes))
  }

  func raw(
    _ method: HTTPMethod, _ path: String, _ body: String = "", headers: [HTTPField] = []
  ) async throws -> HTTPResponse {
    await router.respond(
      to: try HTTPRequest(method, "/v1/simulator" + path, headers: headers, body: Array(body.utf8)))
  }

  /// One good push to the bench's device; `stream` must grow.
  func push(stream: Int32, _ change: (inout PushCall) -> Void = { _ in }) throws -> Answer {
    var call = PushCall(path: "/3/device/\(PushBench.hex)", authorization: bench.usual)
    change(&call)
    let request = StandInRequest(
      connection: bench.connection, stream: stream, headers: call.headers, body: call.body)
    return Answer(actions: core.withLock { $0.handle(request) }, stream: stream)
  }
}
