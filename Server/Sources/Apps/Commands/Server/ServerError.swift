import ArgumentParsing
import PabalPrimitives

/// What the server, or the way to it, said no to.
struct ServerError: ExitingError {
  let code: String
  let message: String
  let exitCode: ExitCode
  let place: Place

  init(_ code: String, _ message: String, _ exitCode: ExitCode, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.exitCode = exitCode
    self.place = Place(file: file, line: line)
  }

  /// The API's error object in one sentence, with its hint and request id.
  init(status: Int, body: JSONSlice?, file: String = #fileID, line: Int = #line) {
    let error = body?["error"]
    let parts = [
      error?["message"]?.string ?? "The server answered \(status).", error?["hint"]?.string,
      error?["requestId"]?.string.map { "(\($0))" },
    ]
    let exitCode: ExitCode =
      switch status {
      case 400, 413, 415, 422: .usage
      case 401, 403: .notAllowed
      case 404: .notFound
      case 409: .conflict
      default: .failure
      }
    self.init(
      error?["code"]?.string ?? "http_\(status)", parts.compactMap { $0 }.joined(separator: " "), exitCode, file: file,
      line: line
    )
  }
}
