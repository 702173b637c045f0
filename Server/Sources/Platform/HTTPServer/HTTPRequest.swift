/// The methods a route may have. Known ones without a route answer 405, all others 501 (RFC 9110 section 9.1).
package enum HTTPMethod: String, Sendable, CaseIterable {
  case get = "GET"
  case head = "HEAD"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
  case options = "OPTIONS"
}

/// A named value of a query or a header list.
package struct HTTPField: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One request that has passed every guard: origin-form path, unique headers, body within its limit.
package struct HTTPRequest: Sendable {
  package var method: HTTPMethod
  /// The path as it came, still percent-encoded, without the query.
  package var path: String
  /// The path's segments, each decoded on its own: `%2F` inside one is data.
  package var segments: [String]
  /// The query's arguments in order, decoded; `+` is a space.
  package var query: [HTTPField]
  /// Headers in order; names in lower case.
  package var headers: [HTTPField]
  package var body: [UInt8]
  /// Values of `{name}` in the route's path; filled by the router.
  package var parameters: [String: String]
  /// `req_…`; also on the reply as `Pabal-Request-Id`.
  package var requestID: String

  /// For tests and callers without a port: `path` may carry a query, and is parsed by the server's own rules.
  package init(
    _ method: HTTPMethod, _ target: String, headers: [HTTPField] = [], body: [UInt8] = [],
    requestID: String = "req_00000000000000000000000000"
  ) throws(APIError) {
    let parsed = try RequestTarget(parsing: Array(target.utf8), queryArguments: WebServerLimits().queryArguments)
    self.init(method: method, target: parsed, headers: headers, body: body, requestID: requestID)
  }

  init(method: HTTPMethod, target: RequestTarget, headers: [HTTPField], body: [UInt8], requestID: String) {
    self.method = method
    self.path = target.path
    self.segments = target.segments
    self.query = target.query
    self.headers = headers.map { HTTPField($0.name.lowercased(), $0.value) }
    self.body = body
    self.parameters = [:]
    self.requestID = requestID
  }

  /// The first header of that name, in any case. Single-valued headers occur once: the guards refuse doubles.
  package func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name == wanted }?.value
  }

  /// The first query argument of that name.
  package func queryValue(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }
}
