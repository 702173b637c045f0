import HTTPServer
import PabalPrimitives

/// The stand-in's resources at the API's own address, when the stand-in is another process: each call is handed on and
/// its answer handed back.
struct SimulatorForwarding: Sendable {
  let control: ControlClient
  /// `/v1/simulator`, there as here.
  let prefix: String

  /// The stand-in delays a media file for as long as it is asked to; the API itself gives a handler a minute.
  private static let timeout = Duration.seconds(50)

  var routes: [Route] {
    [HTTPMethod.get, .post, .put, .patch, .delete].map { method in
      Route(
        method, prefix + "/{path*}",
        RouteOperation("simulator\(method.rawValue)", "Handed on to the simulator", tag: "Simulator")
      ) { request in await forward(request) }
    }
  }

  private func forward(_ request: HTTPRequest) async -> HTTPResponse {
    // A stream has no end to hand back, and the phone at its other end can reach the simulator as well as this server.
    if request.segments.last == "stream" {
      return APIError(
        501, .server, "stream_not_forwarded", "This server does not hand the simulator's event streams on.",
        hint: "Open http://\(control.endpoint)\(Self.target(of: request)) instead; it needs no key."
      ).response(requestID: request.requestID)
    }
    do {
      let answer = try await control.send(
        request.method.rawValue, Self.target(of: request), body: request.body,
        contentType: request.header("content-type"), timeout: Self.timeout)
      let type = answer.contentType.map { [HTTPField("Content-Type", $0)] } ?? []
      return HTTPResponse(status: answer.status, headers: type, body: .bytes(answer.body))
    } catch {
      return APIError(
        502, .server, "simulator_unreachable", error.message, headers: [HTTPField("Retry-After", "1")], cause: error
      ).response(requestID: request.requestID)
    }
  }

  /// Path and query as they came; the query was decoded and is coded again.
  private static func target(of request: HTTPRequest) -> String {
    let query = request.query.map { "\(coded($0.name))=\(coded($0.value))" }.joined(separator: "&")
    return query.isEmpty ? request.path : request.path + "?" + query
  }

  private static func coded(_ text: String) -> String {
    text.utf8.reduce(into: "") { coded, byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        coded.append(Character(UnicodeScalar(byte)))
      default: coded += "%" + Hex.encode([byte]).uppercased()
      }
    }
  }
}
