/// Finds the route of a request. A literal segment wins over one with a name, whatever the order of the routes.
package struct Router: Sendable {
  /// Turns a refusal into the form that callers of that path expect.
  package typealias ErrorForm = @Sendable (_ error: APIError, _ path: String, _ requestID: String) -> HTTPResponse

  enum Match {
    case route(Route, parameters: [String: String])
    case methodNotAllowed(allowed: [HTTPMethod])
    case notFound
  }

  private enum Segment {
    case literal(String)
    case named(prefix: String, name: String)
    /// The last one: all that is left, at least one segment.
    case rest(name: String)
  }

  private struct Entry {
    let route: Route
    let segments: [Segment]
  }

  /// The label of requests that match no route, in metrics.
  package static let unmatched = "unmatched"

  package let routes: [Route]
  package let errorForm: ErrorForm
  private let entries: [Int: [Entry]]
  /// Routes that end in `{name*}`; looked at last.
  private let openEnded: [Entry]

  package init(
    _ routes: [Route],
    errorForm: @escaping ErrorForm = { error, _, requestID in error.response(requestID: requestID) }
  ) {
    self.routes = routes
    self.errorForm = errorForm
    let entries = routes.map { Entry(route: $0, segments: Self.parse($0.path)) }
    openEnded = entries.filter { Self.isOpenEnded($0.segments) }
    self.entries = Dictionary(grouping: entries.filter { !Self.isOpenEnded($0.segments) }) {
      $0.segments.count
    }.mapValues { entries in
      entries.sorted { Self.rank($0.segments).lexicographicallyPrecedes(Self.rank($1.segments)) }
    }
  }

  /// Answers a request without a server: what the server does after its guards, the limits of bodies apart.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch match(request.method, request.segments) {
    case .route(let route, let parameters):
      var request = request
      request.parameters = parameters
      return await route.handler(request)
    case .methodNotAllowed(let allowed):
      return errorForm(Self.notAllowed(allowed), request.path, request.requestID)
    case .notFound:
      return errorForm(Self.noRoute, request.path, request.requestID)
    }
  }

  func match(_ method: HTTPMethod, _ segments: [String]) -> Match {
    var allowed: [HTTPMethod] = []
    for entry in (entries[segments.count] ?? []) + openEnded {
      guard let parameters = Self.parameters(entry.segments, segments) else { continue }
      if entry.route.method == method || (method == .head && entry.route.method == .get) {
        return .route(entry.route, parameters: parameters)
      }
      if !allowed.contains(entry.route.method) { allowed.append(entry.route.method) }
    }
    return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
  }

  static func notAllowed(_ allowed: [HTTPMethod]) -> APIError {
    let names = allowed.map(\.rawValue).sorted().joined(separator: ", ")
    return APIError(
      405, .invalidRequest, "method_not_allowed", "This path takes \(names).", headers: [HTTPField("Allow", names)])
  }

  static var noRoute: APIError {
    APIError.notFound("route_not_found", "There is nothing at this path; /openapi.json lists what there is.")
  }

  private static func parse(_ path: String) -> [Segment] {
    path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
      guard let open = part.firstIndex(of: "{"), part.last == "}" else { return .literal(String(part)) }
      if part.hasSuffix("*}") { return .rest(name: String(part[part.index(after: open)...].dropLast(2))) }
      return .named(prefix: String(part[..<open]), name: String(part[part.index(after: open)...].dropLast()))
    }
  }

  private static func rank(_ segments: [Segment]) -> [Int] {
    segments.map { segment in
      switch segment {
      case .literal: 0
      case .named(let prefix, _): prefix.isEmpty ? 2 : 1
      case .rest: 3
      }
    }
  }

  private static func isOpenEnded(_ segments: [Segment]) -> Bool {
    if case .rest = segments.last { true } else { false }
  }

  private static func parameters(_ pattern: [Segment], _ segments: [String]) -> [String: String]? {
    var parameters: [String: String] = [:]
    for (expected, given) in zip(pattern, segments) {
      switch expected {
      case .literal(let text):
        guard text == given else { return nil }
      case .named(let prefix, let name):
        guard given.hasPrefix(prefix), given.utf8.count > prefix.utf8.count else { return nil }
        parameters[name] = String(given.dropFirst(prefix.count))
      case .rest(let name):
        parameters[name] = segments[(pattern.count - 1)...].joined(separator: "/")
      }
    }
    return pattern.count <= segments.count ? parameters : nil
  }
}
