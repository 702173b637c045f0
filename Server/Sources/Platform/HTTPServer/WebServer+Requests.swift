import CMicrohttpd
import PabalPrimitives

// What the library's thread calls, in the order of a request's life.
extension WebServer {
  func connectionOpened(_ connection: Int, descriptor: CInt) {
    let now = configuration.clock.monotonic()
    state.withLock { $0.deadlines.opened(connection, descriptor: descriptor, now: now) }
  }

  func connectionClosed(_ connection: Int) {
    state.withLock { $0.deadlines.closed(connection) }
  }

  func requestBegan(_ connection: Int, target: [UInt8]) -> Exchange {
    let now = configuration.clock.monotonic()
    let id = RequestID.make(at: configuration.clock.wall(), randomness: configuration.randomness)
    return state.withLock { state in
      let exchange = Exchange(
        connection: connection, requestID: id, target: target, startedAt: now, isAbandoned: state.isStopping)
      state.exchanges[ObjectIdentifier(exchange)] = exchange
      state.deadlines.enter(.head, connection, now: now)
      return exchange
    }
  }

  func requestEnded(_ exchange: Exchange) {
    let now = configuration.clock.monotonic()
    let waiting = state.withLock { state in
      state.exchanges[ObjectIdentifier(exchange)] = nil
      state.deadlines.enter(.idle, exchange.connection, now: now)
      return state.metWait()
    }
    waiting?.finish()
    exchange.state.withLock { $0.stream }?.close()
  }

  /// The first call for a request: the only moment at which it can be refused before its body is read.
  func headReceived(_ exchange: Exchange, _ head: RequestHead, _ connection: OpaquePointer) -> MHD_Result {
    if exchange.target == state.withLock({ $0.canary }) {
      return send(canaryReply(head), exchange, connection, closes: true, isCanary: true)
    }
    configuration.hooks.started()
    do throws(APIError) {
      let checked = try requestGuard.check(head)
      let match = router.match(checked.method, checked.target.segments)
      var limit = configuration.limits.bodyBytes
      if case .route(let route, _) = match, let own = route.bodyLimit { limit = own }
      exchange.state.withLock { state in
        state.head = checked
        state.match = match
        state.bodyLimit = limit
        state.phase = .body
      }
      if let length = checked.contentLength, length > limit { throw Self.bodyTooLarge(limit) }
      enter(.body, exchange)
      return .YES
    } catch {
      return refuse(error, exchange, connection)
    }
  }

  /// - Returns: false to drop the connection.
  func bodyReceived(_ exchange: Exchange, _ bytes: UnsafeRawBufferPointer) -> Bool {
    exchange.state.withLock { state in
      guard state.body.count + bytes.count <= state.bodyLimit, state.discarded == 0 else {
        state.discarded += bytes.count
        return state.body.count + state.discarded <= state.bodyLimit * configuration.limits.discardFactor
      }
      state.body.append(contentsOf: bytes)
      return true
    }
  }

  func bodyEnded(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    let (head, match, body, limit, discarded) = exchange.state.withLock { state in
      defer { state.body = [] }
      return (state.head, state.match, state.body, state.bodyLimit, state.discarded)
    }
    guard let head, let match else { return .NO }
    guard discarded == 0 else { return refuse(Self.bodyTooLarge(limit), exchange, connection) }
    switch match {
    // Closed, because the library misses the end of a half-closed connection that it answers without suspending it.
    case .notFound: return refuse(Router.noRoute, exchange, connection)
    case .methodNotAllowed(let allowed): return refuse(Router.notAllowed(allowed), exchange, connection)
    case .route(let route, let parameters):
      var request = HTTPRequest(
        method: head.method, target: head.target, headers: head.headers, body: body, requestID: exchange.requestID)
      request.parameters = parameters
      return handle(Job(exchange: exchange, request: request, route: route), connection)
    }
  }

  private func handle(_ job: Job, _ connection: OpaquePointer) -> MHD_Result {
    let jobs = state.withLock { state in
      state.handling += 1
      return state.jobs
    }
    guard job.exchange.beginHandling(SuspendableConnection(connection)) else {
      state.withLock { $0.handling -= 1 }
      return reply(Self.stopping, job.exchange, connection)
    }
    enter(.handling, job.exchange)
    jobs?.yield(job)
    return .YES
  }

  /// Hands a reply to the library. Called on its thread, with the connection awake.
  func send(
    _ response: HTTPResponse, _ exchange: Exchange, _ connection: OpaquePointer, closes: Bool = false,
    isCanary: Bool = false
  ) -> MHD_Result {
    var stream: BodyStream?
    if case .stream(let body) = response.body { stream = body }
    let isAbandoned = exchange.state.withLock { state in
      state.phase = .sent
      state.stream = stream
      state.streamMovedAt = configuration.clock.monotonic()
      state.streamOfferedAt = state.streamMovedAt
      return state.isAbandoned
    }
    if let stream {
      if isAbandoned { stream.close() }
      let key = exchange.connection
      stream.attach { [weak self] in self?.cut(key) }
    }
    enter(stream == nil ? .replying : .streaming, exchange)
    var sent = libraryResponse(response, stream, connection)
    var status = response.status
    if sent == nil || !addHeaders(response, exchange, to: sent, closes: closes) {
      if let sent { MHD_destroy_response(sent) }
      stream?.close()
      let fault = APIError.internalFault().response(requestID: exchange.requestID)
      status = fault.status
      sent = libraryResponse(fault, nil, connection)
      _ = addHeaders(fault, exchange, to: sent, closes: true)
    }
    guard let sent else { return .NO }
    defer { MHD_destroy_response(sent) }
    if !isCanary { note(status, exchange) }
    return MHD_queue_response(connection, UInt32(status), sent)
  }

  private func libraryResponse(_ response: HTTPResponse, _ stream: BodyStream?, _ connection: OpaquePointer)
    -> OpaquePointer?
  {
    if let stream { return Library.streamingResponse(stream, connection: connection) }
    return (response.bytes ?? []).withUnsafeBytes { bytes in
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  }

  private func addHeaders(_ response: HTTPResponse, _ exchange: Exchange, to sent: OpaquePointer?, closes: Bool)
    -> Bool
  {
    guard let sent else { return false }
    var headers = response.headers + [HTTPField("Pabal-Request-Id", exchange.requestID)]
    if closes || isDraining { headers.append(HTTPField("Connection", "close")) }
    return headers.allSatisfy { header in
      !header.value.utf8.contains(0) && MHD_add_response_header(sent, header.name, header.value) == .YES
    }
  }

  private func reply(_ error: APIError, _ exchange: Exchange, _ connection: OpaquePointer, closes: Bool = false)
    -> MHD_Result
  {
    send(router.errorForm(error, exchange.path, exchange.requestID), exchange, connection, closes: closes)
  }

  /// A request that broke the rules of HTTP ends its connection: what follows on it cannot be trusted.
  private func refuse(_ error: APIError, _ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    reply(error, exchange, connection, closes: true)
  }

  private func enter(_ phase: ConnectionDeadlines.Phase, _ exchange: Exchange) {
    let now = configuration.clock.monotonic()
    state.withLock { $0.deadlines.enter(phase, exchange.connection, now: now) }
  }

  private func cut(_ connection: Int) {
    state.withLock { state in
      if let descriptor = state.deadlines.descriptor(of: connection) { SocketAddress.shutDown(descriptor) }
    }
  }

  private func note(_ status: Int, _ exchange: Exchange) {
    let (method, label) = exchange.state.withLock { state -> (HTTPMethod?, String) in
      guard case .route(let route, _) = state.match else { return (state.head?.method, Router.unmatched) }
      return (state.head?.method, route.path)
    }
    configuration.hooks.answered(
      WebServerHooks.Answered(
        requestID: exchange.requestID, method: method, route: label, status: status,
        duration: exchange.startedAt.duration(to: configuration.clock.monotonic())))
  }

  private static func bodyTooLarge(_ limit: Int) -> APIError {
    APIError(413, .invalidRequest, "body_too_large", "The body may have at most \(limit) bytes.")
  }
}

extension Exchange {
  /// Sends a heartbeat into a silent stream and cuts one whose client takes nothing.
  func tendStream(now: Instant, limits: WebServerLimits) {
    guard let stream = state.withLock({ $0.stream }), !stream.isClosed else { return }
    let (offered, taken) = stream.progress
    let (isSilent, isStalled) = state.withLock { state -> (Bool, Bool) in
      if offered != state.streamOffered {
        state.streamOffered = offered
        state.streamOfferedAt = now
      }
      if taken != state.streamTaken || taken == offered {
        state.streamTaken = taken
        state.streamMovedAt = now
      }
      return (
        state.streamOfferedAt.duration(to: now) >= limits.heartbeat,
        state.streamMovedAt.duration(to: now) >= limits.streamStall
      )
    }
    if isStalled {
      stream.cut()
    } else if isSilent, let heartbeat = stream.heartbeat {
      stream.offer(heartbeat)
      state.withLock { state in
        state.streamOffered = offered + UInt64(heartbeat.count)
        state.streamOfferedAt = now
      }
    }
  }
}
