package import HTTPServer
import Observability
import PabalPrimitives
package import Storage

/// The API of one app in one mode: the guide's routes and `/v1`, as values that answer without a port.
package struct PushAPI: Sendable {
  let configuration: PushAPIConfiguration
  let storage: any PushStorage
  let dispatcher: PushDispatcher

  package init(configuration: PushAPIConfiguration, storage: any PushStorage, dispatcher: PushDispatcher) {
    self.configuration = configuration
    self.storage = storage
    self.dispatcher = dispatcher
    for declaration in APIMetrics.declarations { configuration.metrics.declare(declaration) }
  }

  /// Every route of the API, `/openapi.json` last.
  package var routes: [Route] {
    let described =
      guideRoutes + preferenceRoutes + deviceRoutes + messageRoutes + deliveryRoutes + explainRoutes + eventRoutes
      + operationRoutes
    return described + [openAPIRoute(described)]
  }

  /// The routes of the API and `extra` ones, these for holders of the secret key only. Refusals have the guide's form
  /// on the guide's paths.
  package func router(extra: [Route] = []) -> Router {
    Router(routes + extra.map(guarded), errorForm: Self.errorForm)
  }

  private func guarded(_ route: Route) -> Route {
    let handler = route.handler
    return Route(route.method, route.path, route.operation, bodyLimit: route.bodyLimit) { request in
      do throws(APIError) {
        _ = try configuration.keys.caller(request, for: .secret)
      } catch {
        return error.response(requestID: request.requestID)
      }
      return await handler(request)
    }
  }

  private func openAPIRoute(_ routes: [Route]) -> Route {
    let document = OpenAPIDocument(
      title: "Pabal", version: configuration.version, schemas: Schemas.all, securitySchemes: Schemas.securitySchemes)
    let body = document.value(routes: routes).encoded
    return route(
      .get, "/openapi.json", .anyone,
      RouteOperation(
        "openapi", "This description", tag: "Operation", replies: [RouteOperation.Reply(200, "OpenAPI 3.1")])
    ) { _, _ in
      HTTPResponse(status: 200, headers: [HTTPField("Content-Type", "application/json")], body: .bytes(body))
    }
  }
}
