public import PabalPrimitives

/// An error that the app sees.
public struct PabalError: CodedError, Equatable {
  public let code: String
  public let message: String
  public let cause: (any Error)?
  public let place: Place

  public init(code: String, message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = Place(file: file, line: line)
  }

  /// Reads `{"error":{"code","message"}}` and the guide's `{"success":false,"code","error"}`.
  package init(answer: HTTPAnswer, file: String = #fileID, line: Int = #line) {
    var code = "http_\(answer.status)"
    var message = "The server answered \(answer.status). Look for the request in its log."
    do throws(JSONError) {
      let root = try JSONSlice(parsing: answer.body)
      code = root["error"]?["code"]?.string ?? root["code"]?.string ?? code
      message = root["error"]?["message"]?.string ?? root["error"]?.string ?? message
    } catch {
      // A proxy's page: the status alone tells what there is to tell.
    }
    self.init(code: code, message: message, file: file, line: line)
  }

  public static func == (left: PabalError, right: PabalError) -> Bool {
    left.code == right.code && left.message == right.message
  }
}
