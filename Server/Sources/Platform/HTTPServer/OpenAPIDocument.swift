package import PabalPrimitives

/// The OpenAPI 3.1 document of a route table: the only description of the API, made from what answers it.
package struct OpenAPIDocument: Sendable {
  package let title: String
  package let version: String
  /// Named schemas under `components.schemas`, for `{"$ref": "#/components/schemas/…"}`.
  package let schemas: [JSONMember]
  /// `components.securitySchemes`.
  package let securitySchemes: [JSONMember]

  package init(title: String, version: String, schemas: [JSONMember] = [], securitySchemes: [JSONMember] = []) {
    self.title = title
    self.version = version
    self.schemas = schemas
    self.securitySchemes = securitySchemes
  }

  /// The document (OpenAPI 3.1) that describes these routes, in their order.
  package func value(routes: [Route]) -> JSONValue {
    var order: [String] = []
    var paths: [String: [JSONMember]] = [:]
    for route in routes {
      if paths[route.path] == nil { order.append(route.path) }
      paths[route.path, default: []].append(
        JSONMember(route.method.rawValue.lowercased(), Self.operation(route.operation)))
    }
    var components: [JSONMember] = []
    if !schemas.isEmpty { components.append(JSONMember("schemas", .object(schemas))) }
    if !securitySchemes.isEmpty { components.append(JSONMember("securitySchemes", .object(securitySchemes))) }
    return [
      "openapi": "3.1.0",
      "info": ["title": .string(title), "version": .string(version)],
      "paths": .object(order.map { JSONMember($0, .object(paths[$0] ?? [])) }),
      "components": .object(components),
    ]
  }

  private static func operation(_ operation: RouteOperation) -> JSONValue {
    var members = [
      JSONMember("operationId", .string(operation.id)), JSONMember("summary", .string(operation.summary)),
    ]
    if !operation.tag.isEmpty { members.append(JSONMember("tags", [.string(operation.tag)])) }
    if !operation.parameters.isEmpty {
      let parameters = operation.parameters.map { parameter -> JSONValue in
        [
          "name": .string(parameter.name), "in": .string(parameter.location.rawValue),
          "description": .string(parameter.summary), "required": .bool(parameter.isRequired),
          "schema": parameter.schema,
        ]
      }
      members.append(JSONMember("parameters", .array(parameters)))
    }
    if let request = operation.request {
      members.append(
        JSONMember("requestBody", ["required": true, "content": ["application/json": ["schema": request]]]))
    }
    members.append(JSONMember("responses", .object(operation.replies.map(reply))))
    if !operation.security.isEmpty {
      members.append(
        JSONMember("security", .array(operation.security.map { .object([JSONMember($0, .array([]))]) })))
    }
    return .object(members)
  }

  private static func reply(_ reply: RouteOperation.Reply) -> JSONMember {
    var members = [JSONMember("description", .string(reply.summary))]
    if let schema = reply.schema {
      members.append(JSONMember("content", .object([JSONMember(reply.contentType, ["schema": schema])])))
    }
    return JSONMember(String(reply.status), .object(members))
  }
}
