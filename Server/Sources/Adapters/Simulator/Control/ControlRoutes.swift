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
  let wait: @Sendable (_ milliseconds: Int) async -> Void

  /// - Parameters:
  ///   - topic: of devices that are posted without one.
  ///   - wait: returns after so many milliseconds; for `delayMs` of media files.
  package init(
    core: Locked<StandInCore>, links: LinkBoard, topic: String,
    wait: @escaping @Sendable (_ milliseconds: Int) async -> Void
  ) {
    self.core = core
    self.links = links
    self.topic = topic
    self.wait = wait
  }

  /// The routes below a path such as `/v1/simulator`.
  package func routes(prefix: String) -> [Route] {
    deviceRoutes(prefix) + recordRoutes(prefix) + scriptRoutes(prefix) + [mediaRoute(prefix)]
  }

  private func deviceRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/devices", "listSimulatorDevices", "Virtual devices", listDevices),
      route(
        .post, "\(prefix)/devices", "createSimulatorDevices", "Mint a device, adopt one, or mint many", createDevices),
      route(.get, "\(prefix)/devices/{id}", "getSimulatorDevice", "One device", getDevice),
      route(
        .patch, "\(prefix)/devices/{id}", "changeSimulatorDevice", "Uninstall, go offline, come back", changeDevice),
      route(.delete, "\(prefix)/devices/{id}", "deleteSimulatorDevice", "Forget a device", deleteDevice),
      route(
        .get, "\(prefix)/devices/{id}/stream", "linkSimulatorDevice", "The device link (server-sent events)", openLink),
    ]
  }

  private func recordRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/inbox", "listSimulatorInbox", "Pushes that APNs took", listInbox),
      route(.get, "\(prefix)/requests", "listSimulatorRequests", "The wire log", listRequests),
      route(.get, "\(prefix)/stats", "getSimulatorStats", "Counts since start or reset") { request throws(APIError) in
        _ = try ControlQuery(request, known: [])
        return .json(200, core.withLock { ControlOutput.statistics($0) })
      },
    ]
  }

  private func scriptRoutes(_ prefix: String) -> [Route] {
    [
      route(.get, "\(prefix)/faults", "getSimulatorFaults", "Fault rules in force") { request throws(APIError) in
        _ = try ControlQuery(request, known: [])
        return faultList()
      },
      route(.put, "\(prefix)/faults", "setSimulatorFaults", "Replace all fault rules", setFaults),
      route(.get, "\(prefix)/clock", "getSimulatorClock", "The time by which the stand-in judges") {
        request throws(APIError) in
        _ = try ControlQuery(request, known: [])
        return .json(200, core.withLock { ControlOutput.clock($0) })
      },
      route(.post, "\(prefix)/clock", "moveSimulatorClock", "Move, set, stop or release the clock", moveClock),
      route(.post, "\(prefix)/reset", "resetSimulator", "Forget what happened", reset),
    ]
  }

  private func mediaRoute(_ prefix: String) -> Route {
    let operation = RouteOperation("getSimulatorMedia", "A file to attach", tag: "simulator")
    return Route(.get, "\(prefix)/media/{file}", operation) { request in
      do throws(APIError) {
        return try await media(request)
      } catch {
        return error.response(requestID: request.requestID)
      }
    }
  }

  private func route(
    _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
    _ handler: @escaping @Sendable (HTTPRequest) throws(APIError) -> HTTPResponse
  ) -> Route {
    Route(method, path, RouteOperation(id, summary, tag: "simulator")) { request in
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

  /// Runs what the core wants done after a control call: only links are woken from here.
  func perform(_ actions: [StandInAction]) {
    for case .wake(let link) in actions { links.wake(link) }
  }
}
