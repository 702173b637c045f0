package import PabalPrimitives

/// A refusal in the form of the API's error object: what is wrong, where, and what to do.
///
/// The message is for developers, in English, and never holds a token, key or text of a push. `code` is stable.
package struct APIError: CodedError {
  /// The `type` member: the family that a client may branch on.
  package enum Kind: String, Sendable {
    case invalidRequest = "invalid_request"
    case authentication
    case permission
    case notFound = "not_found"
    case conflict
    case rateLimit = "rate_limit"
    case server
  }

  /// One of several things wrong with a request.
  package struct Detail: Sendable, Hashable {
    package let parameter: String
    package let code: String
    package let message: String

    package init(parameter: String, code: String, message: String) {
      self.parameter = parameter
      self.code = code
      self.message = message
    }
  }

  package let status: Int
  package let kind: Kind
  package let code: String
  package let message: String
  package let parameter: String?
  package let hint: String?
  package let details: [Detail]
  package let headers: [HTTPField]
  package let cause: (any Error)?
  package let place: Place

  package init(
    _ status: Int, _ kind: Kind, _ code: String, _ message: String, parameter: String? = nil, hint: String? = nil,
    details: [Detail] = [], headers: [HTTPField] = [], cause: (any Error)? = nil, file: String = #fileID,
    line: Int = #line
  ) {
    self.status = status
    self.kind = kind
    self.code = code
    self.message = message
    self.parameter = parameter
    self.hint = hint
    self.details = details
    self.headers = headers
    self.cause = cause
    self.place = Place(file: file, line: line)
  }

  /// The error object of the API; members without a value are left out.
  package func response(requestID: String) -> HTTPResponse {
    var members: [JSONMember] = [
      JSONMember("type", .string(kind.rawValue)),
      JSONMember("code", .string(code)),
      JSONMember("message", .string(message)),
    ]
    if let parameter { members.append(JSONMember("param", .string(parameter))) }
    if let hint { members.append(JSONMember("hint", .string(hint))) }
    if !details.isEmpty {
      let list = details.map { detail -> JSONValue in
        ["param": .string(detail.parameter), "code": .string(detail.code), "message": .string(detail.message)]
      }
      members.append(JSONMember("details", .array(list)))
    }
    members.append(JSONMember("requestId", .string(requestID)))
    return .json(status, ["error": .object(members)], headers: headers)
  }
}

extension APIError {
  /// 400: a member or parameter that must be there is not.
  package static func missing(_ parameter: String, hint: String? = nil, file: String = #fileID, line: Int = #line)
    -> APIError
  {
    APIError(
      400, .invalidRequest, "parameter_missing", "'\(parameter)' is required.", parameter: parameter, hint: hint,
      file: file, line: line)
  }

  /// 400: a member or parameter that nobody knows, most often a misspelt one.
  package static func unknown(_ parameter: String, known: [String] = [], file: String = #fileID, line: Int = #line)
    -> APIError
  {
    APIError(
      400, .invalidRequest, "parameter_unknown", "There is no '\(parameter)' here.", parameter: parameter,
      hint: known.isEmpty ? nil : "Known: \(known.sorted().joined(separator: ", ")).", file: file, line: line)
  }

  /// 400: what was given is not of the right kind or outside its limits. `message` follows the name: "must be …".
  package static func invalid(
    _ parameter: String, _ message: String, hint: String? = nil, file: String = #fileID, line: Int = #line
  ) -> APIError {
    APIError(
      400, .invalidRequest, "parameter_invalid", "'\(parameter)' \(message).", parameter: parameter, hint: hint,
      file: file, line: line)
  }

  /// 400: the body is no JSON; line and column are in the sentence.
  package static func malformedJSON(_ error: JSONError, file: String = #fileID, line: Int = #line) -> APIError {
    APIError(
      400, .invalidRequest, "json_malformed",
      "The body is not JSON. \(error.message)", cause: error,
      file: file, line: line)
  }

  /// 404, with a code of the caller's.
  package static func notFound(
    _ code: String, _ message: String, hint: String? = nil, file: String = #fileID, line: Int = #line
  ) -> APIError {
    APIError(404, .notFound, code, message, hint: hint, file: file, line: line)
  }

  /// 409, with a code of the caller's.
  package static func conflict(_ code: String, _ message: String, file: String = #fileID, line: Int = #line) -> APIError
  {
    APIError(409, .conflict, code, message, file: file, line: line)
  }

  /// 500: ours. The cause is for the log and is not sent.
  package static func internalFault(cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) -> APIError {
    APIError(
      500, .server, "internal", "Something of ours failed; the log has the cause under this request id.",
      cause: cause, file: file, line: line)
  }
}
