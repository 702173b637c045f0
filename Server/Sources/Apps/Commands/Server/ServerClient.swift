import ArgumentParsing
import PabalPrimitives

/// Calls of a command to its server.
struct ServerClient: Sendable, Unprintable {
  private let http: PlainHTTPClient

  init(_ profile: ServerProfile) {
    http = profile.client
  }

  /// The body of a 2xx answer.
  ///
  /// - Throws: `ServerError` with the server's own words for everything else, exit code 7 when nobody answers.
  func call(_ method: String, _ path: String, body: JSONValue? = nil) async throws -> JSONSlice {
    let (status, value) = try await answer(method, path, body: body)
    guard (200...299).contains(status), let value else { throw ServerError(status: status, body: value) }
    return value
  }

  /// Status and JSON body, whatever they are.
  func answer(_ method: String, _ path: String, body: JSONValue? = nil) async throws -> (Int, JSONSlice?) {
    do throws(PlainHTTPFailure) {
      let answer = try await http.call(method, path, body: body)
      return (answer.status, answer.json)
    } catch {
      throw Self.error(error, at: http.place)
    }
  }

  /// Escapes a path segment or a query value.
  static func escape(_ text: String) -> String { PlainHTTPClient.escape(text) }

  private static func error(_ failure: PlainHTTPFailure, at place: String) -> ServerError {
    switch failure {
    case .unreachable:
      ServerError(
        "server_unreachable",
        "The server http://\(place) does not answer. Start it with `pabal up`, or correct PABAL_SERVER.", .unreachable)
    case .silent:
      ServerError(
        "server_silent", "The server http://\(place) took the call and did not answer. Look at its log.", .unreachable)
    case .tooLong:
      ServerError(
        "answer_too_long", "The server's answer is longer than \(PlainHTTPClient.answerBytes) bytes.", .failure)
    case .malformed: ServerError("answer_malformed", "What answers there does not speak HTTP/1.1.", .failure)
    }
  }
}
