package import EventLoop
package import HTTP2
package import HTTP2Connections
package import PabalPrimitives

/// One personality on its loop: HTTP/2 requests into the core, the core's actions onto connections.
///
/// On its loop's thread only. The core is shared with the other personality and the control API.
package final class StandInService: HTTP2ServerHandler {
  private let core: Locked<StandInCore>
  private let environment: StandInEnvironment
  private let loop: any Loop
  private let wake: @Sendable (StandInLinkID) -> Void
  private var names: [UInt64: StandInConnectionID] = [:]
  private var connections: [StandInConnectionID: HTTP2ServerConnection] = [:]

  /// - Parameter wake: told when a device link has something to say.
  package init(
    core: Locked<StandInCore>, environment: StandInEnvironment, loop: any Loop,
    wake: @escaping @Sendable (StandInLinkID) -> Void = { _ in }
  ) {
    self.core = core
    self.environment = environment
    self.loop = loop
    self.wake = wake
  }

  /// What the listener of a service announces and allows.
  package static func configuration(_ rules: StandInRules) -> HTTP2ServerConfiguration {
    HTTP2ServerConfiguration(
      maxConcurrentStreams: rules.streamsBeforeToken, requestBodyLimit: StandInLimits.bodyBytes)
  }

  package func connectionOpened(_ connection: HTTP2ServerConnection) {
    let id = core.withLock { $0.connectionOpened(environment) }
    names[connection.id] = id
    connections[id] = connection
  }

  package func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    guard let id = names[connection.id] else { return }
    var headers: [StandInHeader] = []
    headers.reserveCapacity(request.headers.count)
    request.headers.visit { name, value in
      headers.append(StandInHeader(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
      return true
    }
    let whole = StandInRequest(
      connection: id, stream: request.stream, headers: headers, body: request.body, bodyWasCut: request.bodyOverflowed)
    let open = connection.openStreams
    let actions = core.withLock { core in
      core.sawOpenStreams(open)
      return core.handle(whole)
    }
    for action in actions { perform(action) }
  }

  package func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {}

  package func pingReceived(on connection: HTTP2ServerConnection) {
    core.withLock { $0.pingReceived() }
  }

  package func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {
    guard let id = names.removeValue(forKey: connection.id) else { return }
    connections[id] = nil
    core.withLock { $0.connectionClosed(id) }
  }

  private func perform(_ action: StandInAction) {
    switch action {
    case .reply(let id, let stream, let reply):
      connections[id]?.respond(
        stream: stream, status: reply.status, headers: reply.headers.map { ($0.name, $0.value) }, body: reply.body)
    case .reset(let id, let stream, let code):
      connections[id]?.reset(stream: stream, code: HTTP2ErrorCode(rawValue: code))
    case .goaway(let id, let lastStream, let debug):
      connections[id]?.goaway(lastStreamID: lastStream, code: .noError, debug: debug)
    case .close(let id): connections[id]?.close()
    case .abort(let id): connections[id]?.abort()
    case .streamLimit(let id, let count): connections[id]?.setMaxConcurrentStreams(count)
    case .wake(let link): wake(link)
    case .later(let milliseconds, let actions):
      loop.schedule(after: .milliseconds(milliseconds)) { [self] in
        for action in actions { perform(action) }
        for connection in connections.values { connection.flush() }
      }
    }
  }
}
