package import HTTPServer
package import PabalPrimitives

/// The control API: devices, their links and inboxes, the wire log, counts, faults, the clock, media files.
///
/// HTTP/1.1 and JSON; lists are `{"data":[…],"nextCursor":string|null}`; unknown paths answer 404, unknown fields 400.
/// Times are integers of milliseconds since 1970.
package struct StandInControl: Sendable {
  let core: Locked<StandInCore>
  let links: LinkBoard
  let topic: String
  let act: @Sendable ([StandInAction]) -> Void
  let wait: @Sendable (_ milliseconds: Int) async -> Void

  /// - Parameters:
  ///   - topic: of devices that are posted without one.
  ///   - act: does on connections what a control call brings about.
  ///   - wait: returns after so many milliseconds; for `delayMs` of media files.
  package init(
    core: Locked<StandInCore>, links: LinkBoard, topic: String, act: @escaping @Sendable ([StandInAction]) -> Void,
    wait: @escaping @Sendable (_ milliseconds: Int) async -> Void
  ) {
    self.core = core
    self.links = links
    self.topic = topic
    self.act = act
    self.wait = wait
  }

  /// The routes below a path such as `/v1/simulator`.
  package func routes(prefix: String) -> [Route] {
    deviceRoutes(prefix) + recordRoutes(prefix) + scriptRoutes(prefix) + [mediaRoute(prefix)]
  }

  private func deviceRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/devices", ControlOperations.listDevices, listDevices),
      route(.post, "\(prefix)/devices", ControlOperations.createDevices, createDevices),
      route(.get, "\(prefix)/devices/{id}", ControlOperations.getDevice, getDevice),
      route(.patch, "\(prefix)/devices/{id}", ControlOperations.changeDevice, changeDevice),
      route(.delete, "\(prefix)/devices/{id}", ControlOperations.deleteDevice, deleteDevice),
      route(.get, "\(prefix)/devices/{id}/stream", ControlOperations.openLink, openLink),
    ]
  }

  private func recordRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/inbox", ControlOperations.listInbox, listInbox),
      route(.get, "\(prefix)/requests", ControlOperations.listRequests, listRequests),
      route(.get, "\(prefix)/stats", ControlOperations.getStats, getStats),
    ]
  }

  private func scriptRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/faults", ControlOperations.getFaults, getFaults),
      route(.put, "\(prefix)/faults", ControlOperations.setFaults, setFaults),
      route(.get, "\(prefix)/settings", ControlOperations.getSettings, getSettings),
      route(.patch, "\(prefix)/settings", ControlOperations.changeSettings, changeSettings),
      route(.get, "\(prefix)/clock", ControlOperations.getClock, getClock),
      route(.post, "\(prefix)/clock", ControlOperations.moveClock, moveClock),
      route(.post, "\(prefix)/reset", ControlOperations.reset, reset),
    ]
  }

  private func mediaRoute(_ prefix: String) -> Route {
    Route(.get, "\(prefix)/media/{file}", ControlOperations.getMedia) { request in
      do throws(APIError) {
        return try await media(request)
      } catch {
        return error.response(requestID: request.requestID)
      }
    }
  }

  private func route(
    _ method: HTTPMethod, _ path: String, _ operation: RouteOperation,
    _ handler: @escaping @Sendable (HTTPRequest) throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(method, path, operation) { request in
      do throws(APIError) {
        return try handler(request)
      } catch {
        return error.response(requestID: request.requestID)
      }
    }
  }

  /// Changes devices; a refusal becomes the API's.
  func change<Value>(
    _ body: (inout StandInCore) throws(StandInDeviceFault) -> Value
  ) throws(APIError) -> Value {
    let result = core.withLock { core -> Result<Value, StandInDeviceFault> in
      do throws(StandInDeviceFault) {
        return .success(try body(&core))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let fault): throw refusal(fault)
    }
  }

  /// Runs what the core wants done after a control call.
  func perform(_ actions: [StandInAction]) {
    for case .wake(let link) in actions { links.wake(link) }
    let others = actions.filter { if case .wake = $0 { false } else { true } }
    if !others.isEmpty { act(others) }
  }
}
