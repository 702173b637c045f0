import EventLoop
import HTTP2Connections
import PabalPrimitives

/// The listeners and services of both personalities. On their loop's thread only.
struct StandInFront {
  /// How often idle connections are looked for; the clock's moves look at once.
  private static let idleLook = Duration.seconds(1)

  private var listeners: [HTTP2Listener] = []
  private var services: [StandInService] = []

  mutating func add(_ listener: HTTP2Listener, _ service: StandInService) {
    listeners.append(listener)
    services.append(service)
  }

  /// Each service knows its own connections.
  func perform(_ actions: [StandInAction]) {
    for service in services { service.perform(actions) }
  }

  func watchIdleConnections(_ core: Locked<StandInCore>, on loop: any Loop) {
    let services = services
    loop.schedule(after: Self.idleLook) {
      let actions = core.withLock { $0.endIdleConnections() }
      for service in services { service.perform(actions) }
      watchIdleConnections(core, on: loop)
    }
  }

  mutating func stop() {
    for listener in listeners {
      listener.stop()
      for connection in listener.connections { connection.abort() }
    }
    listeners = []
    services = []
  }
}
