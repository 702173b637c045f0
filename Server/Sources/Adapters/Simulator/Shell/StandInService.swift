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
  /// SETTINGS_MAX_CONCURRENT_STREAMS of the listener's first frame.
  private let announcedLimit: Int
  private var names: [UInt64: StandInConnectionID] = [:]
  private var connections: [StandInConnectionID: HTTP2ServerConnection] = [:]
  /// Fault rules have looked at headers alone: then the core must hear of each stream's end.
  private var watchedHeaders = false

  /// - Parameter wake: told when a device link has something to say.
  package init(
    core: Locked<StandInCore>, environment: StandInEnvironment, loop: any Loop,
    wake: @escaping @Sendable (StandInLinkID) -> Void = { _ in }
  ) {
    self.core = core
    self.environment = environment
    self.loop = loop
    self.wake = wake
    announcedLimit = core.withLock { $0.rules.streamsBeforeToken }
  }

  /// What the listener of a service announces and allows.
  package static func configuration(_ rules: StandInRules) -> HTTP2ServerConfiguration {
    HTTP2ServerConfiguration(
      maxConcurrentStreams: rules.streamsBeforeToken, requestBodyLimit: StandInLimits.bodyBytes)
  }

  package func connectionOpened(_ connection: HTTP2ServerConnection) {
    let certificate = connection.peerCertificate.map { PushCertificate.read($0) }
    let (id, limit) = core.withLock { core in
      let id = core.connectionOpened(environment, certificate: certificate)
      return (id, core.streamLimit(of: id))
    }
    names[connection.id] = id
    connections[id] = connection
    if limit != announcedLimit { connection.setMaxConcurrentStreams(limit) }
  }

  package func requestReceived(_ request: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    guard let id = names[connection.id] else { return }
    let whole = Self.request(request, on: id)
    let open = connection.openStreams
    let actions = core.withLock { core in
      core.sawOpenStreams(open)
      return core.handle(whole)
    }
    for action in actions { perform(action) }
  }

  package func requestHeadReceived(_ head: HTTP2ServerRequest, on connection: HTTP2ServerConnection) {
    guard core.withLock(\.watchesHeaders), let id = names[connection.id] else { return }
    watchedHeaders = true
    let request = Self.request(head, on: id)
    for action in core.withLock({ $0.headersReceived(request) }) { perform(action) }
  }

  private static func request(_ request: HTTP2ServerRequest, on id: StandInConnectionID) -> StandInRequest {
    var headers: [StandInHeader] = []
    headers.reserveCapacity(request.headers.count)
    request.headers.visit { name, value in
      headers.append(StandInHeader(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
      return true
    }
    return StandInRequest(
      connection: id, stream: request.stream, headers: headers, body: request.body, bodyWasCut: request.bodyOverflowed,
      headersWereCut: request.headersOverflowed)
  }

  package func readingPiece(of connection: HTTP2ServerConnection) -> Int? {
    core.withLock(\.watchesHeaders) ? Self.pieceBytes : nil
  }

  /// Small enough that a body of a few bytes is still ahead when its headers have been looked at.
  private static let pieceBytes = 16

  package func streamClosed(_ stream: Int32, code: HTTP2ErrorCode, on connection: HTTP2ServerConnection) {
    guard watchedHeaders, let id = names[connection.id] else { return }
    core.withLock { $0.streamClosed(stream, on: id) }
  }

  package func pingReceived(on connection: HTTP2ServerConnection) {
    let id = names[connection.id]
    core.withLock { $0.pingReceived(on: id) }
  }

  package func connectionClosed(_ connection: HTTP2ServerConnection, error: HTTP2ConnectionError) {
    guard let id = names.removeValue(forKey: connection.id) else { return }
    connections[id] = nil
    core.withLock { $0.connectionClosed(id) }
  }

  /// Does what the core wants outside of a request. Connections of the other personality, and links, are left alone.
  package func perform(_ actions: [StandInAction]) {
    for action in actions {
      if case .wake = action { continue }
      perform(action)
    }
    for id in Set(actions.compactMap(\.connection)) { connections[id]?.flush() }
  }

  private func perform(_ action: StandInAction) {
    switch action {
    case .reply(let id, let stream, let reply):
      connections[id]?.respond(
        stream: stream, status: reply.status, headers: reply.headers.map { ($0.name, $0.value) }, body: reply.body)
    case .halfReply(let id, let stream, let reply):
      connections[id]?.respond(
        stream: stream, status: reply.status, headers: reply.headers.map { ($0.name, $0.value) }, body: reply.body,
        endStream: false)
    case .readRate(let id, let bytesPerSecond): connections[id]?.setReadRate(bytesPerSecond)
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
        for id in Set(actions.compactMap(\.connection)) { connections[id]?.flush() }
      }
    }
  }
}
