package import HTTPServer
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
  }

  /// Every route of the API, `/openapi.json` last.
  package var routes: [Route] {
    operationRoutes
  }

  /// `/healthz`, `/readyz`, `/version`, `/metrics`: without a key; also for a port of their own.
  package var operationRoutes: [Route] {
    []
  }

  /// The routes of the API and `extra` ones, with refusals in the guide's form on the guide's paths.
  package func router(extra: [Route] = []) -> Router {
    Router(routes + extra)
  }
}
