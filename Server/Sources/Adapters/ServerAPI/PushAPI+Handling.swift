import HTTPServer
import PabalModel
import Observability
import PabalPrimitives
import Storage

extension PushAPI {
  typealias Handler = @Sendable (HTTPRequest, Caller) async throws -> HTTPResponse

  /// A route with its access rule in front and every refusal turned into the form of its path.
  func route(
    _ method: HTTPMethod, _ path: String, _ access: Access, _ operation: RouteOperation, _ handler: @escaping Handler
  ) -> Route {
    let operation = RouteOperation(
      operation.id, operation.summary, tag: operation.tag, parameters: operation.parameters,
      request: operation.request, replies: operation.replies + Self.refusals(access, path), security: access.schemes)
    return Route(method, path, operation) { request in
      do {
        let caller = try configuration.keys.caller(request, for: access)
        // Ignoring the key would let a caller believe in a protection that is not there.
        if request.method != .get, request.header("idempotency-key") != nil {
          throw APIError(
            400, .invalidRequest, "idempotency_unsupported",
            "Idempotency-Key is not supported yet; 'requestId' keeps a talent request from going out twice.",
            parameter: "Idempotency-Key")
        }
        return try await handler(request, caller)
      } catch {
        return Self.errorForm(refusal(error, request), request.path, request.requestID)
      }
    }
  }

  private func refusal(_ error: any Error, _ request: HTTPRequest) -> APIError {
    if let error = error as? APIError { return error }
    guard let error = error as? StorageError else {
      log(error, request)
      return .internalFault(cause: error)
    }
    switch error.kind {
    case .installSecretWrong:
      return APIError(
        403, .permission, "install_secret_wrong", "The install secret does not match this install.",
        parameter: "Pabal-Install-Secret", cause: error)
    case .readOnly:
      log(error, request)
      return APIError(503, .server, "read_only", "The store takes no writes now; reading goes on.", cause: error)
    case .unavailable, .closed:
      log(error, request)
      return APIError(
        503, .server, "unavailable", "The store does not answer now; ask again in a moment.",
        headers: [HTTPField("Retry-After", "1")], cause: error)
    case .corrupt, .newerSchema, .wrongMasterKey, .invalidCall:
      log(error, request)
      return .internalFault(cause: error)
    }
  }

  private func log(_ error: any Error, _ request: HTTPRequest) {
    let code = (error as? any CodedError)?.code ?? "unexpected"
    configuration.log.event(
      "request.failed", "a request failed inside", level: .error,
      ["request_id": .string(request.requestID), "error_code": .string(code)])
  }

  private static func refusals(_ access: Access, _ path: String) -> [RouteOperation.Reply] {
    let schema: JSONValue = [
      "$ref": isGuidePath(path) ? "#/components/schemas/GuideError" : "#/components/schemas/Error"
    ]
    var replies = [RouteOperation.Reply(400, "The request is wrong; `param` names what.", schema: schema)]
    switch access {
    case .anyone: return []
    case .guideClient, .publishable: break
    case .secret: replies.append(RouteOperation.Reply(403, "The key may not do this.", schema: schema))
    }
    replies.append(RouteOperation.Reply(401, "The key is missing or wrong.", schema: schema))
    if path.contains("{") { replies.append(RouteOperation.Reply(404, "There is no such thing.", schema: schema)) }
    replies.append(RouteOperation.Reply(413, "The body is too large.", schema: schema))
    replies.append(RouteOperation.Reply(415, "The body is no JSON.", schema: schema))
    replies.append(RouteOperation.Reply(500, "Something of ours failed.", schema: schema))
    replies.append(RouteOperation.Reply(503, "Stopping, or the store takes no writes.", schema: schema))
    return replies
  }

  /// The guide's clients read `success` and `error`; everybody else gets the error object.
  static let errorForm: Router.ErrorForm = { error, path, requestID in
    guard isGuidePath(path) else { return error.response(requestID: requestID) }
    return .json(
      error.status,
      .compact([
        "success": false, "error": .string(error.message), "code": .string(error.code),
        "param": JSONValue(error.parameter), "hint": JSONValue(error.hint),
      ]), headers: error.headers)
  }

  static func isGuidePath(_ path: String) -> Bool {
    path.hasPrefix("/api/push/") || path == "/notification-preferences" || path == "/device-token"
  }

  /// The user whose word is taken, at the edge: 1 to 255 bytes, no NUL.
  static func user(_ text: String, _ parameter: String) throws(APIError) -> UserID {
    guard let user = UserID(checking: text) else {
      throw .invalid(parameter, "must have 1 to 255 bytes and no NUL")
    }
    return user
  }

  /// Refuses query arguments that the route does not know.
  static func allowQuery(_ request: HTTPRequest, _ names: Set<String>) throws(APIError) {
    if let unknown = request.query.first(where: { !names.contains($0.name) }) {
      throw .unknown(unknown.name, known: Array(names))
    }
  }

  var now: WallTime { configuration.clock.wall() }

  var mode: JSONValue { .string(configuration.appMode.mode.rawValue) }
}
