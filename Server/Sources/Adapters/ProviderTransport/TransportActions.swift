internal import APNs
internal import Delivery
internal import HTTP2
internal import HTTP2Connections
internal import PabalModel
internal import PabalPrimitives
internal import EventLoop

/// What the machines want, done.
extension TransportCore {
  func run(_ action: PoolMachine.Action) {
    switch action {
    case .dial(let key): dial(key)
    case .abandon(let key): connection(key)?.http?.abort()
    case .retire(let key):
      guard let connection = connection(key) else { return }
      run(connection.goaway.handle(.retire), on: connection)
    case .unreachable: run(ledger.handle(.unreachable, now: loop.now))
    }
  }

  func run(_ actions: [GoawayMachine.Action], on connection: TransportConnection) {
    for action in actions {
      switch action {
      case .retire(let byPeer):
        let event = byPeer ? PoolMachine.Event.leaving(connection.key) : .retired(connection.key)
        for action in pool.handle(event, now: loop.now) { run(action) }
        if case .drained = connection.permits.handle(.retired) {
          run(connection.goaway.handle(.drained), on: connection)
        }
      case .giveBack(let tags): run(ledger.handle(.givenBack(tags, from: connection.key), now: loop.now))
      case .lose(let tags): run(ledger.handle(.lost(tags, from: connection.key), now: loop.now))
      case .close: connection.http?.close()
      }
    }
  }

  func run(_ actions: [LivenessMachine.Action], on connection: TransportConnection) {
    for action in actions {
      switch action {
      case .ping: connection.http?.ping()
      case .dead: connection.http?.abort()
      case .idle: run(connection.goaway.handle(.retire), on: connection)
      }
    }
  }

  func run(_ actions: [DeliveryLedger.Action]) {
    for action in actions {
      switch action {
      case .finished(let endings): finish(endings)
      case .reset(let tags, let key):
        guard let connection = connection(key), let http = connection.http else { continue }
        release(tags.count { http.cancel(tag: $0.rawValue) }, on: connection)
      case .suspect(let key):
        guard let connection = connection(key) else { continue }
        run(connection.liveness.handle(.suspected, now: loop.now), on: connection)
      }
    }
  }

  private func dial(_ key: ConnectionKey) {
    let connection = TransportConnection(
      key: key, credentialNumber: credentialNumber,
      permits: PermitMachine(ownLimit: configuration.concurrency, peerLimit: 0, planted: configuration.planted),
      goaway: GoawayMachine(planted: configuration.planted),
      liveness: LivenessMachine(
        quietLimit: configuration.quietLimit, answerLimit: configuration.pingTimeout,
        idleLimit: configuration.idleLimit, now: loop.now))
    // The pool's deadline is the one that counts; the connection's own is the net below it.
    var client = HTTP2ClientConfiguration(
      endpoint: configuration.endpoint, proxy: configuration.proxy, serverName: configuration.serverName,
      tls: configuration.tls, dialTimeout: configuration.pool.dialTimeout * 2, keptHeaders: ReplyRemedy.headers,
      plainStatus: 200,
      lastStreamID: configuration.lastStreamID)
    client.plantedWindowSlack = configuration.planted == .windowOffByOne ? 1 : 0
    let http = HTTP2ClientConnection(
      loop: loop, configuration: client, events: { self.handle($0, on: connection) })
    connection.attach(http)
    connections.append(connection)
    statistics.connectionsDialed += 1
    http.start()
  }

  private func connection(_ key: ConnectionKey) -> TransportConnection? {
    connections.first { $0.key == key }
  }
}
