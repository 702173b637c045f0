import APNs
import Delivery
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import ServerAPI
import Storage

/// Takes marked deliveries to the providers and their outcomes to the journal.
///
/// A device whose environment no 200 has shown is tried where it says it lives, else in production, and on
/// BadDeviceToken once in the other environment. What nobody took goes back to the store, which is asked for it when
/// its time has come: it looks at the device and at the user's wishes again. When one of these changes meanwhile, what
/// has not left is taken back at once.
final class Dispatcher: Sendable {
  private struct State {
    var inFlight = 0
    var whenIdle: [Countdown] = []
    var forRoom: [CheckedContinuation<Void, Never>] = []
    /// Who waits for the end of which delivery.
    var watchers: [DeliveryKey: Countdown] = [:]
    /// All that is in flight.
    var open: [DeliveryKey: OpenDelivery] = [:]
    var nextTag: UInt64 = 0
    var changes = ChangeLog()
    /// When the store is asked next for what waits in it.
    var nextLook: WallTime?
    var isFinishing = false
  }

  /// In which transport, and under which tag.
  private struct Place {
    let environment: PushEnvironment
    let tag: UInt64
  }

  private struct OpenDelivery {
    let user: UserID
    /// `nil` before it is handed over.
    var place: Place?
    /// Something has changed: no attempt begins any more.
    var isWithdrawn: Bool
  }

  /// Deliveries in memory, each with its payload of up to 4 KB; beyond it accepting waits.
  private static let inFlightLimit = 20_000
  /// Deliveries taken from the store in one commit.
  private static let claimedAtOnce = 500
  /// A store that refuses is asked again after this long.
  private static let pause = Duration.seconds(1)

  private let transports: TestTransports
  private let storage: any PushStorage
  private let journal: OutcomeJournal
  private let loop: any Loop
  private let clock: Clock
  private let telemetry: ServerTelemetry
  private let retries = RetryPolicy()
  private let state = Locked(State())
  private let batches: AsyncStream<[OutgoingDelivery]>
  private let feed: AsyncStream<[OutgoingDelivery]>.Continuation
  private let looks: AsyncStream<Void>
  private let look: AsyncStream<Void>.Continuation

  init(
    transports: TestTransports, storage: any PushStorage, journal: OutcomeJournal, loop: any Loop, clock: Clock,
    telemetry: ServerTelemetry
  ) {
    self.transports = transports
    self.storage = storage
    self.journal = journal
    self.loop = loop
    self.clock = clock
    self.telemetry = telemetry
    (batches, feed) = AsyncStream.makeStream()
    (looks, look) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Deliveries handed over whose outcome is not on the disk yet.
  var inFlight: Int { state.withLock { $0.inFlight } }

  /// Sends, and returns when all have ended and that is on the disk, or after `wait`; sending goes on either way.
  ///
  /// - Parameter position: of ``position``, before the deliveries were decided.
  func dispatch(_ deliveries: [OutgoingDelivery], wait: Duration, since position: Int) async {
    guard !deliveries.isEmpty else { return }
    state.withLock { state in
      for delivery in deliveries {
        state.open[delivery.key] = OpenDelivery(
          user: delivery.user, place: nil,
          isWithdrawn: state.changes.concerns(delivery.user, delivery.key.device, since: position))
      }
    }
    await waitForRoom(deliveries.count)
    guard wait > .zero else {
      feed.yield(deliveries)
      return
    }
    let progress = Countdown(deliveries.count)
    state.withLock { state in
      for delivery in deliveries { state.watchers[delivery.key] = progress }
    }
    feed.yield(deliveries)
    await progress.wait { [loop] release in
      loop.execute { loop.schedule(after: wait, release) }
    }
    state.withLock { state in
      for delivery in deliveries { state.watchers[delivery.key] = nil }
    }
  }

  /// See ``PushDispatcher/position``.
  var position: Int { state.withLock { $0.changes.position } }

  /// See ``PushDispatcher/reconsider``.
  func reconsider(_ subjects: Set<ChangedSubject>) async -> Int {
    let tags = state.withLock { state in
      state.changes.note(subjects)
      let concerned = state.open.filter { key, delivery in
        subjects.contains(.device(key.device)) || subjects.contains(.user(delivery.user))
      }
      for key in concerned.keys { state.open[key]?.isWithdrawn = true }
      return Dictionary(grouping: concerned.values.compactMap(\.place), by: \.environment)
    }
    var written = 0
    for (environment, places) in tags {
      written += await transports[environment].withdraw(Set(places.map(\.tag)))
    }
    return written
  }

  /// Works until `finish`.
  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await _ in self.looks { _ = await self.claimDue() }
      }
      for await batch in batches {
        group.addTask { await self.send(batch) }
      }
    }
  }

  /// For outcomes of interrupted pushes to reach the disk; a store that refuses them must not hold the stop up.
  private static let lastCommits = Duration.seconds(2)

  /// Waits at most `grace` for what is in flight, then ends it: unsent pushes go back to the store for the next
  /// process, written ones are unknown.
  func finish(grace: Duration) async {
    let idle = Countdown(1)
    state.withLock { state in
      state.isFinishing = true
      if state.inFlight == 0 { idle.tick() } else { state.whenIdle.append(idle) }
    }
    look.finish()
    await idle.wait { [loop] release in
      loop.execute { loop.schedule(after: grace, release) }
    }
    if !idle.isOver {
      transports.interrupt(grace: .zero)
      await idle.wait { [loop] release in
        loop.execute { loop.schedule(after: Self.lastCommits, release) }
      }
    }
    feed.finish()
  }

  // MARK: Room

  private func left(_ count: Int) {
    let (idle, forRoom) = state.withLock { state -> ([Countdown], [CheckedContinuation<Void, Never>]) in
      state.inFlight -= count
      let idle = state.inFlight == 0 ? state.whenIdle : []
      if state.inFlight == 0 { state.whenIdle = [] }
      guard state.inFlight < Self.inFlightLimit else { return (idle, []) }
      defer { state.forRoom = [] }
      return (idle, state.forRoom)
    }
    for countdown in idle { countdown.tick() }
    for continuation in forRoom { continuation.resume() }
  }

  /// Returns when there is room; the room is taken then. A batch may go past the limit once, so that none is too large.
  private func waitForRoom(_ count: Int) async {
    while true {
      let isIn = state.withLock { state in
        guard state.inFlight < Self.inFlightLimit else { return false }
        state.inFlight += count
        return true
      }
      if isIn { return }
      await withCheckedContinuation { continuation in
        let isFull = state.withLock { state in
          guard state.inFlight >= Self.inFlightLimit else { return false }
          state.forRoom.append(continuation)
          return true
        }
        if !isFull { continuation.resume() }
      }
    }
  }
}

// MARK: - What waits in the store

extension Dispatcher {
  /// Takes what waits in the store and is due, and sees to it that the rest is looked at in time.
  ///
  /// - Returns: how many were handed over.
  func claimDue() async -> Int {
    var taken = 0
    while !state.withLock({ $0.isFinishing }) {
      let now = clock.wall()
      let position = position
      let claim: QueueClaim
      do {
        claim = try await storage.claimQueued(limit: Self.claimedAtOnce, at: now)
      } catch {
        telemetry.storeRefused(error)
        lookAgain(at: now.advanced(by: Self.pause))
        break
      }
      for ended in claim.ended {
        telemetry.ended(ended)
        watcher(of: ended.key)?.tick()
      }
      taken += claim.deliveries.count
      await dispatch(claim.deliveries, wait: .zero, since: position)
      guard let next = claim.nextDue else { break }
      guard next <= now, !claim.deliveries.isEmpty || !claim.ended.isEmpty else {
        lookAgain(at: max(next, now.advanced(by: .milliseconds(1))))
        break
      }
    }
    return taken
  }

  private func watcher(of key: DeliveryKey) -> Countdown? {
    state.withLock { $0.watchers.removeValue(forKey: key) }
  }

  private func lookAgain(at time: WallTime) {
    let isSooner = state.withLock { state in
      if state.isFinishing { return false }
      if let next = state.nextLook, next <= time { return false }
      state.nextLook = time
      return true
    }
    guard isSooner else { return }
    let wait = max(.zero, clock.wall().duration(to: time))
    loop.execute { [loop] in
      loop.schedule(after: wait) {
        self.state.withLock { state in
          if let next = state.nextLook, next <= time { state.nextLook = nil }
        }
        self.look.yield()
      }
    }
  }
}

// MARK: - One batch

extension Dispatcher {
  private func send(_ batch: [OutgoingDelivery]) async {
    let first = Dictionary(grouping: batch) { $0.environment ?? .production }
    await withDiscardingTaskGroup { group in
      for (environment, deliveries) in first {
        group.addTask { await self.send(deliveries, to: environment, after: [:]) }
      }
    }
  }

  /// - Parameter earlier: the attempt in the other environment, where there was one.
  private func send(
    _ deliveries: [OutgoingDelivery], to environment: PushEnvironment, after earlier: [DeliveryKey: AttemptRecord]
  ) async {
    let startedAt = clock.wall()
    let (deliveries, firstTag) = handOver(deliveries, to: environment, after: earlier)
    var pushes = PushBatch(reserving: deliveries.count)
    for (index, delivery) in deliveries.enumerated() {
      do {
        pushes.append(try APNsPush(delivery, tag: firstTag + UInt64(index), now: startedAt))
      } catch {
        telemetry.unsendable(delivery, error)
        let reason: ReasonCode = error.code == "payload_too_large" ? .payloadTooLarge : .payloadInvalid
        record(delivery, .rejected, reason, attempts: earlier[delivery.key].map { [$0] } ?? [])
      }
    }
    let outcomes = await transports[environment].send(pushes)
    var again: [OutgoingDelivery] = []
    var tried: [DeliveryKey: AttemptRecord] = [:]
    for outcome in outcomes {
      let delivery = deliveries[Int(outcome.tag - firstTag)]
      let before = earlier[delivery.key]
      let attempt = AttemptRecord(
        outcome, number: before?.number ?? delivery.attempts, environment: environment, startedAt: startedAt)
      telemetry.attempted(outcome, environment: environment)
      if before == nil, let attempt, attempt.reason == "BadDeviceToken", !delivery.environmentIsLearned {
        again.append(delivery)
        tried[delivery.key] = attempt
      } else {
        conclude(delivery, outcome, attempts: [before, attempt].compactMap { $0 })
      }
    }
    guard !again.isEmpty else { return }
    await send(again, to: environment == .sandbox ? .production : .sandbox, after: tried)
  }

  /// Notes where they are; those about which something has changed go back to the store instead.
  private func handOver(
    _ deliveries: [OutgoingDelivery], to environment: PushEnvironment, after earlier: [DeliveryKey: AttemptRecord]
  ) -> (deliveries: [OutgoingDelivery], firstTag: UInt64) {
    let (going, firstTag) = state.withLock { state in
      let firstTag = state.nextTag
      let going = deliveries.filter { state.open[$0.key]?.isWithdrawn != true }
      for delivery in going {
        state.open[delivery.key]?.place = Place(environment: environment, tag: state.nextTag)
        state.nextTag += 1
      }
      return (going, firstTag)
    }
    guard going.count < deliveries.count else { return (going, firstTag) }
    let gone = Set(going.map(\.key))
    for delivery in deliveries where !gone.contains(delivery.key) {
      putBack(delivery, attempts: earlier[delivery.key].map { [$0] } ?? [])
    }
    return (going, firstTag)
  }

  /// Nothing of it was written: the store looks at it again, now or in the next process.
  private func putBack(_ delivery: OutgoingDelivery, attempts: [AttemptRecord]) {
    record(delivery, .retrying, .interrupted, retryAt: clock.wall(), attempts: attempts)
  }

  private func conclude(_ delivery: OutgoingDelivery, _ outcome: APNsOutcome, attempts: [AttemptRecord]) {
    let mayWait = delivery.lifetime != .attemptOnce
    let isWithdrawn = state.withLock { $0.open[delivery.key]?.isWithdrawn == true }
    switch outcome.state {
    case .expired where mayWait:
      let failure = RetryPolicy.Failure(
        reason: outcome.reason ?? .providerUnreachable, retryAfter: outcome.retryAfter,
        attempts: attempts.last?.number ?? delivery.attempts, postponements: delivery.postponements)
      let decision = retries.decide(
        after: failure, now: clock.wall(), end: delivery.lifetime?.end, randomness: .system)
      switch decision {
      case .again(let at): record(delivery, .retrying, failure.reason, retryAt: at, attempts: attempts)
      case .giveUp(let state, let reason): record(delivery, state, reason, attempts: attempts)
      }
    case .canceled where (mayWait || isWithdrawn) && outcome.reason == .interrupted:
      putBack(delivery, attempts: attempts)
    case .unknown where isWithdrawn && outcome.reason == .interrupted:
      record(delivery, .unknown, .replyLost, attempts: attempts)
    default:
      record(delivery, outcome.state, outcome.reason, attempts: attempts)
    }
  }

  private func record(
    _ delivery: OutgoingDelivery, _ state: DeliveryState, _ reason: ReasonCode?, retryAt: WallTime? = nil,
    attempts: [AttemptRecord]
  ) {
    let outcome = DeliveryOutcome(
      key: delivery.key, state: state, reason: reason, at: clock.wall(), retryAt: retryAt, token: delivery.token,
      attempts: attempts)
    self.state.withLock { $0.open[delivery.key] = nil }
    journal.add(outcome) {
      self.left(1)
      if let retryAt {
        self.lookAgain(at: retryAt)
      } else {
        self.watcher(of: delivery.key)?.tick()
      }
    }
  }
}
