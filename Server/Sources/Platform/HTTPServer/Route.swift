package import PabalPrimitives

/// One method and path of an API, its description for OpenAPI, and what answers it.
package struct Route: Sendable {
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  package let method: HTTPMethod
  /// `/v1/devices/{id}`; a segment is literal, `{name}`, or a literal prefix and a name: `install:{installId}`. The
  /// last one may be `{name*}`: one or more segments.
  /// Also the label in metrics: a raw path never becomes one.
  package let path: String
  package let operation: RouteOperation
  /// Bytes of body that this route takes, when it is not the server's default.
  package let bodyLimit: Int?
  package let handler: Handler

  package init(
    _ method: HTTPMethod, _ path: String, _ operation: RouteOperation, bodyLimit: Int? = nil,
    handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.operation = operation
    self.bodyLimit = bodyLimit
    self.handler = handler
  }
}

/// What OpenAPI says of a route. Schemas are JSON Schema (2020-12) as values.
package struct RouteOperation: Sendable {
  package struct Parameter: Sendable {
    package enum Location: String, Sendable {
      case path, query, header
    }

    package let name: String
    package let location: Location
    package let summary: String
    package let isRequired: Bool
    package let schema: JSONValue

    package init(
      _ name: String, in location: Location, _ summary: String, required: Bool = false,
      schema: JSONValue = ["type": "string"]
    ) {
      self.name = name
      self.location = location
      self.summary = summary
      self.isRequired = required || location == .path
      self.schema = schema
    }
  }

  package struct Reply: Sendable {
    package let status: Int
    package let summary: String
    package let contentType: String
    package let schema: JSONValue?

    package init(
      _ status: Int, _ summary: String, schema: JSONValue? = nil, contentType: String = "application/json"
    ) {
      self.status = status
      self.summary = summary
      self.schema = schema
      self.contentType = contentType
    }
  }

  /// Unique in the document: `registerDevice`.
  package let id: String
  package let summary: String
  package let tag: String
  package let parameters: [Parameter]
  package let request: JSONValue?
  package let replies: [Reply]
  /// The names of the security schemes, one of which the call needs; empty for an open call.
  package let security: [String]

  package init(
    _ id: String, _ summary: String, tag: String = "", parameters: [Parameter] = [], request: JSONValue? = nil,
    replies: [Reply] = [], security: [String] = []
  ) {
    self.id = id
    self.summary = summary
    self.tag = tag
    self.parameters = parameters
    self.request = request
    self.replies = replies
    self.security = security
  }
}
