package import APNs
internal import Delivery
package import EventLoop
internal import HTTP2
internal import HTTP2Connections
internal import PabalModel
internal import PabalPrimitives
package import TLS

/// Turns the events of connections into those of the machines and runs their actions. On the loop's thread only.
///
/// Everything that happens between two turns of the loop is collected and decided once, in `pump`: a read event that
/// brings fifty replies costs one pass through the machines and one write.
package final class TransportCore {
  private(set) var configuration: APNsTransportConfiguration
  let loop: any Loop
  var pool: PoolMachine
  var ledger: DeliveryLedger
  var permits: PermitMachine
  var credential: CredentialKeeper
  /// Counts the credentials that this transport has had.
  private(set) var credentialNumber = 1
  /// In the order of their dials.
  var connections: [TransportConnection] = []
  package internal(set) var statistics = TransportStatistics()

  var slots: [PushSlot] = []
  var batches: [BatchState?] = []
  var freeBatches: [Int] = []
  /// Of `batches`, by the ids that callers know.
  var places: [UInt64: Int] = [:]
  var dirtyBatches: [Int] = []
  var replies: [PushTag: APNsReply] = [:]
  var uniqueIDs: [PushTag: String] = [:]
  var retryAfters: [PushTag: Duration] = [:]
  private var isPumpScheduled = false
  /// A turn is writing what it has just submitted.
  private(set) var isFilling = false
  /// Made once, not for each turn. Connections and callers that wait keep the core alive.
  private lazy var pumpLater: () -> Void = { [weak self] in self?.pump() }
  private var armed: (timer: TimerID, at: Instant)?
  private var submitted: [PushTag] = []
  /// Kept for its memory.
  private var written: [PushTag] = []
  private var whenClosed: [() -> Void] = []
  private(set) var isShutDown = false
  /// The pool was told that pushes wait and find no room.
  private var wasWanting = false

  /// Where a push of the ledger comes from.
  struct PushSlot {
    var batch: Int32 = 0
    var index: Int32 = 0
    /// Of the provider token that it was written with last.
    var tokenGeneration = 0
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
      authority: configuration.endpoint.description, planted: configuration.planted)
  }

  /// Pushes without an outcome.
  package var open: Int { ledger.open }

  /// Permits that are taken, over all connections: 0 when nothing is open, or one has leaked.
  package var permitsTaken: Int { connections.reduce(0) { $0 + $1.permits.inFlight } }

  // MARK: Pushes in

  /// - Parameter id: for `cancel`.
  package func take(_ batch: PushBatch, id: UInt64, for sink: any OutcomeSink) {
    guard !batch.isEmpty else { return sink.deliver([]) }
    let place = freeBatches.popLast() ?? batches.count
    if place == batches.count { batches.append(nil) }
    let now = loop.now
    let wall = configuration.clock.wall()
    let sendDeadline = configuration.wholeSendDeadline.map { now.advanced(by: $0) }
    let tags = Self.admit(batch.entries, place: place, into: &ledger, &slots) { entry in
      let deadline = entry.expiry.map { now.advanced(by: wall.duration(to: $0)) }
      guard let sendDeadline else { return deadline }
      return min(deadline ?? sendDeadline, sendDeadline)
    }
    batches[place] = BatchState(batch, id: id, tags: tags, sink: sink)
    places[id] = place
    if isShutDown { cancelAll(grace: .zero) }
    schedulePump()
  }

  /// With ledger and slots in hand, so that both are looked up once and not for each push.
  private static func admit(
    _ entries: [PushBatch.Entry], place: Int, into ledger: inout DeliveryLedger, _ slots: inout [PushSlot],
    deadline: (PushBatch.Entry) -> Instant?
  ) -> [PushTag] {
    var tags: [PushTag] = []
    tags.reserveCapacity(entries.count)
    for (index, entry) in entries.enumerated() {
      let tag = ledger.admit(
        DeliveryTerms(
          deadline: deadline(entry), repeatsUnknown: entry.repeatsUnknown, attemptLimit: Int(entry.attemptLimit)))
      while slots.count <= tag.slot { slots.append(PushSlot()) }
      slots[tag.slot] = PushSlot(batch: Int32(place), index: Int32(index))
      tags.append(tag)
    }
    return tags
  }

  /// Ends the pushes of a batch, or one of them: unsent ones now, written ones after `grace`.
  package func cancel(batch id: UInt64, push index: Int? = nil, grace: Duration) {
    settle(now: loop.now)
    guard let batch = places[id].flatMap({ batches[$0] }) else { return }
    let tags = (index.map { [batch.tags[$0]] } ?? batch.tags).filter { ledger.isOpen($0) }
    guard !tags.isEmpty else { return }
    run(ledger.handle(.cancel(tags, grace: grace), now: loop.now))
    schedulePump()
  }

  /// Takes pushes back, by their callers' own tags: unsent ones end `canceled` now; written ones wait for their reply
  /// as before, but nothing of them is written once more.
  ///
  /// - Returns: how many are written and have no reply yet.
  package func withdraw(_ wanted: Set<UInt64>) -> Int {
    settle(now: loop.now)
    let tags = ledger.openTags.filter { tag in
      let slot = slots[tag.slot]
      guard let entries = batches[Int(slot.batch)]?.content.entries else { return false }
      return wanted.contains(entries[Int(slot.index)].tag)
    }
    guard !tags.isEmpty else { return 0 }
    run(ledger.handle(.cancel(tags, grace: configuration.rules.requestTimeout), now: loop.now))
    schedulePump()
    return tags.count { ledger.isOpen($0) }
  }

  package func cancelAll(grace: Duration) {
    settle(now: loop.now)
    run(ledger.handle(.cancel(ledger.openTags, grace: grace), now: loop.now))
    schedulePump()
  }

  /// From now on pushes are written with this credential, on connections of its own; what is written already may be
  /// answered on the old ones, which then close.
  ///
  /// - Parameter tls: with the credential's certificate; `nil` keeps what is in use.
  package func replaceCredential(_ replacement: APNsCredential, tls: TLSClientContext? = nil) {
    let now = loop.now
    settle(now: now)
    configuration.credential = replacement
    if let tls { configuration.tls = tls }
    credentialNumber += 1
    credential = CredentialKeeper(
      credential: replacement, clock: configuration.clock, authority: configuration.endpoint.description,
      planted: configuration.planted)
    for action in pool.handle(.replaceAll, now: now) { run(action) }
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
    loop.schedule(after: .zero, pumpLater)
  }

  private func pump() {
    isPumpScheduled = false
    let now = loop.now
    settle(now: now)
    wakeMachines(now: now)
    if ledger.open > 0 { refill(now: now) }
    askForConnections(now: now)
    deliver()
    statistics.credentialRefusal = credential.refusal
    arm(now: now)
    finishShutdown()
  }

  /// What the peers said since the last turn.
  private func settle(now: Instant) {
    for connection in connections where connection.wasHeard {
      connection.wasHeard = false
      run(connection.liveness.handle(.heard, now: now), on: connection)
      guard !connection.accepted.isEmpty else { continue }
      var tags: [PushTag] = []
      swap(&tags, &connection.accepted)
      defer {
        // Nobody keeps the list, so its memory serves the next one.
        tags.removeAll(keepingCapacity: true)
        if connection.accepted.isEmpty { swap(&tags, &connection.accepted) }
      }
      noteAnswered(connection, now: now)
      if let last = tags.last, isCurrent(connection) {
        credential.approve(generation: slots[last.slot].tokenGeneration, now: now)
      }
      run(ledger.handle(.accepted(tags), now: now))
      release(tags.count, on: connection)
    }
  }

  /// Before the armed moment nobody is due: what came up since then is armed at this turn's end.
  private func wakeMachines(now: Instant) {
    if let armed, now < armed.at { return }
    credential.wake(now: now)
    if let wake = ledger.nextWake, wake <= now { run(ledger.handle(.wake, now: now)) }
    if let wake = pool.nextWake, wake <= now {
      for action in pool.handle(.wake, now: now) { run(action) }
    }
    for connection in connections where connection.isReady {
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
    let permitted = min(connection.permits.available, permits.available)
    submitted.removeAll(keepingCapacity: true)
    http.fill { intake in
      Self.fill(
        intake, with: permitted, from: &ledger, batches, slots, now: now,
        template: { credential.template(for: $0, generation: generation) }, into: &submitted)
    }
    guard !submitted.isEmpty else { return }
    Self.note(generation, of: submitted, in: &slots)
    run(ledger.handle(.submitted(submitted, on: connection.key), now: now))
    _ = connection.liveness.handle(.used, now: now)
    _ = connection.permits.handle(.opened(submitted.count))
    _ = permits.handle(.opened(submitted.count))
    isFilling = true
    http.flush()
    isFilling = false
  }

  private static func note(_ generation: Int, of tags: [PushTag], in slots: inout [PushSlot]) {
    for tag in tags { slots[tag.slot].tokenGeneration = generation }
  }

  /// Moves what waits to a connection, as far as there is room. With everything in hand, so that it is looked up once
  /// and not for each push.
  private static func fill(
    _ intake: HTTP2Intake, with permitted: Int, from ledger: inout DeliveryLedger, _ batches: [BatchState?],
    _ slots: [PushSlot], now: Instant, template makeTemplate: (APNsHead) -> HTTP2HeaderTemplate,
    into submitted: inout [PushTag]
  ) {
    var room = intake.room
    // Neighbours in the line are mostly neighbours in a batch: what they share is looked up once.
    var place = Int32(-1)
    var batch: PushBatch?
    var head = Int32(-1)
    var template: HTTP2HeaderTemplate?
    while submitted.count < permitted, let tag = ledger.firstWaiting(now: now) {
      let slot = slots[tag.slot]
      if slot.batch != place {
        place = slot.batch
        batch = batches[Int(place)]?.content
        head = -1
      }
      guard let batch else { preconditionFailure("an open push belongs to a batch") }
      let entry = batch.entries[Int(slot.index)]
      guard room.take(bodyBytes: Int(entry.bodyCount)) || intake.canSubmit(bodyBytes: Int(entry.bodyCount)) else {
        return
      }
      ledger.takeFirst()
      if entry.head != head {
        head = entry.head
        template = makeTemplate(batch.heads[Int(head)])
      }
      guard let template else { preconditionFailure("a head has a template") }
      intake.submit(
        template: template, source: batch.bytes, path: entry.path, unique: entry.unique, body: entry.body,
        tag: tag.rawValue)
      submitted.append(tag)
    }
  }

  private func askForConnections(now: Instant) {
    let waiting = ledger.waiting(now: now)
    let free = connections.reduce(0) { $0 + ($1.mayTakePushes ? $1.permits.available : 0) }
    let isWanting = waiting > 0 && free == 0
    guard isWanting || wasWanting else { return }
    wasWanting = isWanting
    for action in pool.handle(.demand(waiting: waiting, free: free), now: now) { run(action) }
  }

  private func arm(now: Instant) {
    var wake = credential.renewalAt
    if let candidate = ledger.nextWake { wake = min(wake ?? candidate, candidate) }
    if let candidate = pool.nextWake { wake = min(wake ?? candidate, candidate) }
    for connection in connections where connection.isReady {
      if let candidate = connection.liveness.nextWake { wake = min(wake ?? candidate, candidate) }
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

  /// The kernel has a byte of these.
  func noteWritten(_ tags: [UInt64], on connection: TransportConnection) {
    statistics.requestsWritten += tags.count
    written.removeAll(keepingCapacity: true)
    written.append(contentsOf: tags.lazy.map(PushTag.init))
    run(ledger.handle(.written(written, on: connection.key), now: loop.now))
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
