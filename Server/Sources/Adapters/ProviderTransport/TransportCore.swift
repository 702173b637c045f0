internal import APNs
internal import Delivery
package import EventLoop
internal import HTTP2
internal import HTTP2Connections
internal import PabalModel
internal import PabalPrimitives

/// Turns the events of connections into those of the machines and runs their actions. On the loop's thread only.
///
/// Everything that happens between two turns of the loop is collected and decided once, in `pump`: a read event that
/// brings fifty replies costs one pass through the machines and one write.
package final class TransportCore {
  let configuration: APNsTransportConfiguration
  let loop: any Loop
  var pool: PoolMachine
  var ledger: DeliveryLedger
  var permits: PermitMachine
  var credential: CredentialKeeper
  /// In the order of their dials.
  var connections: [TransportConnection] = []
  package private(set) var statistics = TransportStatistics()

  private var slots: [PushSlot] = []
  private var batches: [BatchState?] = []
  /// The pushes of each batch, beside its state: reading one push must not cost a copy of either.
  private var pushes: [[APNsPush]] = []
  private var freeBatches: [Int] = []
  private var dirtyBatches: [Int] = []
  private var replies: [PushTag: APNsReply] = [:]
  private var uniqueIDs: [PushTag: String] = [:]
  private var isPumpScheduled = false
  private var armed: (timer: TimerID, at: Instant)?
  private var submitted: [PushTag] = []
  private var whenClosed: [() -> Void] = []
  private(set) var isShutDown = false

  /// Where a push of the ledger comes from.
  private struct PushSlot {
    var batch: Int32 = 0
    var index: Int32 = 0
    /// Of the provider token that it was written with last.
    var tokenGeneration = 0

    var place: (batch: Int, index: Int) { (Int(batch), Int(index)) }
  }

  package init(configuration: APNsTransportConfiguration, loop: any Loop) {
    self.configuration = configuration
    self.loop = loop
    let random = configuration.randomness
    pool = PoolMachine(rules: configuration.pool, seed: random.uint64())
    ledger = DeliveryLedger(rules: configuration.rules, seed: random.uint64(), planted: configuration.planted)
    permits = PermitMachine(ownLimit: configuration.concurrency, peerLimit: .max)
    credential = CredentialKeeper(
      credential: configuration.credential, clock: configuration.clock,
      authority: configuration.endpoint.description)
  }

  /// Pushes without an outcome.
  package var open: Int { ledger.open }

  /// Permits that are taken, over all connections: 0 when nothing is open, or one has leaked.
  package var permitsTaken: Int { connections.reduce(0) { $0 + $1.permits.inFlight } }

  // MARK: Pushes in

  package func take(_ batch: PushBatch) {
    guard !batch.pushes.isEmpty else { return batch.sink.deliver([]) }
    let place = freeBatches.popLast() ?? batches.count
    if place == batches.count {
      batches.append(nil)
      pushes.append([])
    }
    batches[place] = BatchState(id: batch.id, sink: batch.sink, open: batch.pushes.count)
    pushes[place] = batch.pushes
    let now = loop.now
    let wall = configuration.clock.wall()
    for (index, push) in batch.pushes.enumerated() {
      let deadline = push.expiresAt.map { now.advanced(by: wall.duration(to: $0)) }
      let tag = ledger.admit(
        DeliveryTerms(deadline: deadline, repeatsUnknown: push.repeatsUnknown, attemptLimit: push.attemptLimit))
      while slots.count < ledger.slots { slots.append(PushSlot()) }
      slots[tag.slot] = PushSlot(batch: Int32(place), index: Int32(index))
    }
    if isShutDown { cancelAll(grace: .zero) }
    schedulePump()
  }

  /// Ends the pushes of a batch: unsent ones now, written ones after `grace`.
  package func cancel(batch id: UInt64, grace: Duration) {
    settle(now: loop.now)
    let tags = ledger.openTags.filter { batches[Int(slots[$0.slot].batch)]?.id == id }
    guard !tags.isEmpty else { return }
    run(ledger.handle(.cancel(tags, grace: grace), now: loop.now))
    schedulePump()
  }

  package func cancelAll(grace: Duration) {
    settle(now: loop.now)
    run(ledger.handle(.cancel(ledger.openTags, grace: grace), now: loop.now))
    schedulePump()
  }

  /// No new connections, the open ones end with their last reply; `then` runs when all are gone.
  package func shutdown(grace: Duration, then: @escaping () -> Void) {
    isShutDown = true
    whenClosed.append(then)
    cancelAll(grace: grace)
    for action in pool.handle(.shutdown, now: loop.now) { run(action) }
    schedulePump()
  }

  // MARK: The turn

  func schedulePump() {
    guard !isPumpScheduled else { return }
    isPumpScheduled = true
    loop.schedule(after: .zero) { self.pump() }
  }

  private func pump() {
    isPumpScheduled = false
    let now = loop.now
    settle(now: now)
    wakeMachines(now: now)
    if ledger.open > 0 { refill(now: now) }
    askForConnections(now: now)
    deliver()
    arm(now: now)
    finishShutdown()
  }

  /// What the peers said since the last turn.
  private func settle(now: Instant) {
    for connection in connections where connection.wasHeard {
      connection.wasHeard = false
      run(connection.liveness.handle(.heard, now: now), on: connection)
      guard !connection.accepted.isEmpty else { continue }
      let tags = connection.accepted
      connection.accepted.removeAll(keepingCapacity: true)
      noteAnswered(connection, now: now)
      if let last = tags.last { credential.approve(generation: slots[last.slot].tokenGeneration, now: now) }
      run(ledger.handle(.accepted(tags), now: now))
      release(tags.count, on: connection)
    }
  }

  private func wakeMachines(now: Instant) {
    credential.wake(now: now)
    if let wake = ledger.nextWake, wake <= now { run(ledger.handle(.wake, now: now)) }
    if let wake = pool.nextWake, wake <= now {
      for action in pool.handle(.wake, now: now) { run(action) }
    }
    for connection in connections {
      guard let wake = connection.liveness.nextWake, wake <= now else { continue }
      run(connection.liveness.handle(.wake, now: now), on: connection)
    }
  }

  /// Fills connections to their permits, the oldest one first, with one write each.
  private func refill(now: Instant) {
    guard permits.available > 0, ledger.firstWaiting(now: now) != nil else { return }
    let generation: Int
    switch credential.permission(now: now) {
    case .write(let usable): generation = usable
    case .wait: return
    case .refused(let reason): return run(ledger.handle(.credentialRefused(reason), now: now))
    }
    for connection in connections where connection.mayTakePushes {
      guard connection.liveness.mayWrite(now: now) else {
        run(connection.liveness.handle(.wanted, now: now), on: connection)
        continue
      }
      fill(connection, generation: generation, now: now)
      guard permits.available > 0, ledger.firstWaiting(now: now) != nil else { return }
    }
  }

  private func fill(_ connection: TransportConnection, generation: Int, now: Instant) {
    guard let http = connection.http else { return }
    let room = min(connection.permits.available, permits.available)
    submitted.removeAll(keepingCapacity: true)
    while submitted.count < room, let tag = ledger.firstWaiting(now: now) {
      let (batch, index) = slots[tag.slot].place
      let body = pushes[batch][index].request.payload.bytes
      guard http.canSubmit(bodyBytes: body.count) else { break }
      ledger.takeFirst()
      slots[tag.slot].tokenGeneration = generation
      http.submit(
        template: credential.template(for: pushes[batch][index].request.head, generation: generation),
        path: pushes[batch][index].request.path, unique: pushes[batch][index].apnsID.bytes, body: body,
        tag: tag.rawValue)
      submitted.append(tag)
    }
    guard !submitted.isEmpty else { return }
    run(ledger.handle(.submitted(submitted, on: connection.key), now: now))
    _ = connection.permits.handle(.opened(submitted.count))
    _ = permits.handle(.opened(submitted.count))
    http.flush()
  }

  private func askForConnections(now: Instant) {
    let waiting = ledger.firstWaiting(now: now) == nil ? 0 : ledger.waiting
    let free = connections.reduce(0) { $0 + ($1.mayTakePushes ? $1.permits.available : 0) }
    for action in pool.handle(.demand(waiting: waiting, free: free), now: now) { run(action) }
  }

  private func arm(now: Instant) {
    var wake = credential.renewalAt
    for candidate in [ledger.nextWake, pool.nextWake] + connections.map({ $0.liveness.nextWake }) {
      if let candidate { wake = min(wake ?? candidate, candidate) }
    }
    guard let wake else { return }
    if let armed {
      // A timer that fires early costs one idle turn; moving it at each turn costs more.
      guard wake < armed.at else { return }
      loop.cancel(armed.timer)
    }
    let timer = loop.schedule(after: max(.zero, now.duration(to: wake))) {
      self.armed = nil
      self.pump()
    }
    armed = (timer, wake)
  }

  private func finishShutdown() {
    guard isShutDown, connections.isEmpty, ledger.open == 0 else { return }
    if let armed { loop.cancel(armed.timer) }
    armed = nil
    let waiting = whenClosed
    whenClosed = []
    waiting.forEach { $0() }
  }
}

// MARK: - What connections tell

extension TransportCore {
  func handle(_ event: HTTP2ClientEvent, on connection: TransportConnection) {
    defer { schedulePump() }
    connection.wasHeard = true
    switch event {
    case .response(let tag, let response):
      receive(response, for: PushTag(rawValue: tag), on: connection)
    case .written(let tags):
      connection.wasHeard = false
      statistics.requestsWritten += tags.count
      run(ledger.handle(.written(tags.map(PushTag.init), on: connection.key), now: loop.now))
    case .ready(let limit):
      becomeReady(connection, limit: limit)
    case .maxConcurrentStreams(let limit):
      _ = connection.permits.handle(.settings(limit: limit))
    case .reset(let tag, _, _):
      run(ledger.handle(.lost([PushTag(rawValue: tag)], from: connection.key), now: loop.now))
      release(1, on: connection)
    case .unprocessed(let tags):
      run(connection.goaway.handle(.unprocessed(tags.map(PushTag.init))), on: connection)
      release(tags.count, on: connection)
    case .goaway(let lastStreamID, _, _):
      statistics.goaways += 1
      run(connection.goaway.handle(.goaway(lastStreamID: lastStreamID)), on: connection)
    case .streamIDsExhausted:
      run(connection.goaway.handle(.retire), on: connection)
    case .pong, .windowOpened:
      break
    case .closed(let error, let lost, let unsent):
      close(connection, error: error, lost: lost, unsent: unsent)
    }
  }

  private func becomeReady(_ connection: TransportConnection, limit: Int) {
    connection.isReady = true
    _ = connection.permits.handle(.settings(limit: limit))
    for action in pool.handle(.ready(connection.key), now: loop.now) { run(action) }
    _ = ledger.handle(.reachability(true), now: loop.now)
    countReady()
  }

  private func receive(_ response: HTTP2Response, for tag: PushTag, on connection: TransportConnection) {
    guard response.status != 200 else {
      // `apns-id` alone is the usual case, and looking for more would cost each push.
      if response.headers.count > 1, let unique = response.headers.string("apns-unique-id"), ledger.isOpen(tag) {
        uniqueIDs[tag] = unique
      }
      connection.accepted.append(tag)
      return
    }
    let now = loop.now
    let reply = APNsReply.classify(status: response.status, body: response.body)
    if ledger.isOpen(tag) { replies[tag] = reply }
    if reply.status == 500 {
      connection.isProven = false
      for action in pool.handle(.serverError(connection.key), now: now) { run(action) }
    } else {
      noteAnswered(connection, now: now)
    }
    heed(reply, generation: slots[tag.slot].tokenGeneration, on: connection, now: now)
    run(ledger.handle(.refused(tag, ReplyRemedy.refusal(for: reply, headers: response.headers)), now: now))
    if let refusal = credential.refusal { run(ledger.handle(.credentialRefused(refusal), now: now)) }
    release(1, on: connection)
  }

  /// What a refusal says about more than its push.
  private func heed(_ reply: APNsReply, generation: Int, on connection: TransportConnection, now: Instant) {
    if reply.verdict == .reauthenticate {
      credential.handle(.refusedAsExpired(generation: generation), now: now)
    } else if reply.reason == "TooManyProviderTokenUpdates" {
      credential.handle(.refusedAsTooMany(generation: generation), now: now)
    } else if ReplyRemedy.isAboutCredential(reply), let reason = reply.reasonCode {
      credential.handle(.credentialRefused(reason), now: now)
    } else if reply.verdict == .retryOnNewConnection {
      run(connection.goaway.handle(.retire), on: connection)
    }
  }

  private func noteAnswered(_ connection: TransportConnection, now: Instant) {
    guard !connection.isProven else { return }
    connection.isProven = true
    for action in pool.handle(.answered(connection.key), now: now) { run(action) }
  }

  private func close(
    _ connection: TransportConnection, error: HTTP2ConnectionError, lost: [UInt64], unsent: [UInt64]
  ) {
    guard connections.contains(where: { $0 === connection }) else { return }
    connections.removeAll { $0 === connection }
    connection.detach()
    // Answers that came with the end are still in hand: they come first.
    connection.wasHeard = true
    let accepted = connection.accepted
    connection.accepted = []
    let now = loop.now
    if !accepted.isEmpty { noteAnswered(connection, now: now) }
    run(ledger.handle(.accepted(accepted), now: now))
    statistics.lastConnectionError = error
    countReady()
    let left = lost.count + unsent.count + accepted.count
    run(
      connection.goaway.handle(.closed(lost: lost.map(PushTag.init), unsent: unsent.map(PushTag.init))),
      on: connection)
    _ = permits.handle(.closed(left))
    for action in pool.handle(.closed(connection.key), now: now) { run(action) }
    _ = ledger.handle(.reachability(statistics.connectionsReady > 0), now: now)
  }

  private func release(_ count: Int, on connection: TransportConnection) {
    for case .drained in connection.permits.handle(.closed(count)) {
      run(connection.goaway.handle(.drained), on: connection)
    }
    _ = permits.handle(.closed(count))
  }

  private func countReady() {
    statistics.connectionsReady = connections.count { $0.isReady }
  }
}

// MARK: - What the machines want

extension TransportCore {
  private func run(_ action: PoolMachine.Action) {
    switch action {
    case .dial(let key): dial(key)
    case .abandon(let key): connection(key)?.http?.abort()
    case .retire(let key):
      guard let connection = connection(key) else { return }
      run(connection.goaway.handle(.retire), on: connection)
    case .unreachable: run(ledger.handle(.unreachable, now: loop.now))
    }
  }

  private func run(_ actions: [GoawayMachine.Action], on connection: TransportConnection) {
    for action in actions {
      switch action {
      case .retire:
        for action in pool.handle(.leaving(connection.key), now: loop.now) { run(action) }
        for case .drained in connection.permits.handle(.retired) {
          run(connection.goaway.handle(.drained), on: connection)
        }
      case .giveBack(let tags): run(ledger.handle(.givenBack(tags, from: connection.key), now: loop.now))
      case .lose(let tags): run(ledger.handle(.lost(tags, from: connection.key), now: loop.now))
      case .close: connection.http?.close()
      }
    }
  }

  private func run(_ actions: [LivenessMachine.Action], on connection: TransportConnection) {
    for action in actions {
      switch action {
      case .ping: connection.http?.ping()
      case .dead: connection.http?.abort()
      }
    }
  }

  private func run(_ actions: [DeliveryLedger.Action]) {
    for action in actions {
      switch action {
      case .finished(let endings): finish(endings)
      case .reset(let tags, let key):
        guard let connection = connection(key), let http = connection.http else { continue }
        tags.forEach { http.cancel(tag: $0.rawValue) }
        release(tags.count, on: connection)
      case .suspect(let key):
        guard let connection = connection(key) else { continue }
        run(connection.liveness.handle(.suspected, now: loop.now), on: connection)
      }
    }
  }

  private func dial(_ key: ConnectionKey) {
    let connection = TransportConnection(
      key: key,
      permits: PermitMachine(ownLimit: configuration.concurrency, peerLimit: 0, planted: configuration.planted),
      liveness: LivenessMachine(
        quietLimit: configuration.quietLimit, answerLimit: configuration.pingTimeout, now: loop.now))
    // The pool's deadline is the one that counts; the connection's own is the net below it.
    let http = HTTP2ClientConnection(
      loop: loop,
      configuration: HTTP2ClientConfiguration(
        endpoint: configuration.endpoint, serverName: configuration.serverName, tls: configuration.tls,
        dialTimeout: configuration.pool.dialTimeout * 2),
      events: { self.handle($0, on: connection) })
    connection.attach(http)
    connections.append(connection)
    statistics.connectionsDialed += 1
    http.start()
  }

  private func connection(_ key: ConnectionKey) -> TransportConnection? {
    connections.first { $0.key == key }
  }
}

// MARK: - Outcomes out

extension TransportCore {
  private func finish(_ endings: [DeliveryEnding]) {
    let now = loop.now
    for ending in endings {
      let (place, index) = slots[ending.tag.slot].place
      let reply = ending.state == .accepted || replies.isEmpty ? nil : replies.removeValue(forKey: ending.tag)
      let unique = uniqueIDs.isEmpty ? nil : uniqueIDs.removeValue(forKey: ending.tag)
      let outcome = APNsOutcome(
        tag: pushes[place][index].tag, state: ending.state, status: ending.state == .accepted ? 200 : reply?.status,
        reason: ending.reason, apnsID: pushes[place][index].apnsID, apnsUniqueID: unique, timestamp: reply?.timestamp,
        verdict: ending.state == .accepted ? .accepted : reply?.verdict, attempts: ending.attempts,
        duration: ending.started.map { $0.duration(to: now) } ?? .zero,
        connection: ending.started == nil ? 0 : Int(ending.connection.rawValue))
      if batches[place]?.record(outcome) == true { dirtyBatches.append(place) }
    }
  }

  private func deliver() {
    guard !dirtyBatches.isEmpty else { return }
    let dirty = dirtyBatches
    dirtyBatches.removeAll(keepingCapacity: true)
    for place in dirty {
      guard let state = batches[place] else { continue }
      batches[place]?.isDirty = false
      guard state.open == 0 || state.sink.wantsChunks else { continue }
      if state.open == 0 {
        batches[place] = nil
        pushes[place] = []
        freeBatches.append(place)
      } else {
        batches[place]?.ready = []
      }
      state.sink.deliver(state.ready)
    }
  }
}
