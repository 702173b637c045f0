import APNs
import EventLoop
import PabalModel
import PabalPrimitives
import ProviderTransport
import Storage

/// Takes marked deliveries to the providers and their outcomes to the journal.
///
/// A device whose environment no 200 has shown is tried where it says it lives, else in production, and on
/// BadDeviceToken once in the other environment.
final class Dispatcher: Sendable {
  private struct State {
    var inFlight = 0
    var whenIdle: [Countdown] = []
    var forRoom: [CheckedContinuation<Void, Never>] = []
  }

  /// Deliveries in memory, each with its payload of up to 4 KB; beyond it accepting waits.
  private static let inFlightLimit = 20_000

  private struct Batch: Sendable {
    let deliveries: [OutgoingDelivery]
    let progress: Countdown
  }

  private let transports: TestTransports
  private let journal: OutcomeJournal
  private let loop: any Loop
  private let clock: Clock
  private let telemetry: ServerTelemetry
  private let state = Locked(State())
  private let batches: AsyncStream<Batch>
  private let feed: AsyncStream<Batch>.Continuation

  init(
    transports: TestTransports, journal: OutcomeJournal, loop: any Loop, clock: Clock, telemetry: ServerTelemetry
  ) {
    self.transports = transports
    self.journal = journal
    self.loop = loop
    self.clock = clock
    self.telemetry = telemetry
    (batches, feed) = AsyncStream.makeStream()
  }

  /// Deliveries handed over whose outcome is not on the disk yet.
  var inFlight: Int { state.withLock { $0.inFlight } }

  /// Sends, and returns when all outcomes are on the disk or after `wait`; sending goes on either way.
  func dispatch(_ deliveries: [OutgoingDelivery], wait: Duration) async {
    guard !deliveries.isEmpty else { return }
    await waitForRoom(deliveries.count)
    let progress = Countdown(deliveries.count)
    feed.yield(Batch(deliveries: deliveries, progress: progress))
    guard wait > .zero else { return }
    await progress.wait { [loop] release in
      loop.execute { loop.schedule(after: wait, release) }
    }
  }

  /// Works until `finish`.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await batch in batches {
        group.addTask { await self.send(batch) }
      }
    }
  }

  /// For outcomes of interrupted pushes to reach the disk; a store that refuses them must not hold the stop up.
  private static let lastCommits = Duration.seconds(2)

  /// Waits at most `grace` for what is in flight, then ends it: unsent pushes are canceled, written ones unknown.
  func finish(grace: Duration) async {
    let idle = Countdown(1)
    state.withLock { state in
      if state.inFlight == 0 { idle.tick() } else { state.whenIdle.append(idle) }
    }
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

  private func ended(_ progress: Countdown) {
    let (idle, forRoom) = state.withLock { state -> ([Countdown], [CheckedContinuation<Void, Never>]) in
      state.inFlight -= 1
      let idle = state.inFlight == 0 ? state.whenIdle : []
      if state.inFlight == 0 { state.whenIdle = [] }
      guard state.inFlight < Self.inFlightLimit else { return (idle, []) }
      defer { state.forRoom = [] }
      return (idle, state.forRoom)
    }
    progress.tick()
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

  // MARK: One batch

  private func send(_ batch: Batch) async {
    let first = Dictionary(grouping: batch.deliveries) { $0.environment ?? .production }
    await withDiscardingTaskGroup { group in
      for (environment, deliveries) in first {
        group.addTask { await self.send(deliveries, to: environment, after: [:], progress: batch.progress) }
      }
    }
  }

  /// - Parameter earlier: the attempt in the other environment, where there was one.
  private func send(
    _ deliveries: [OutgoingDelivery], to environment: PushEnvironment, after earlier: [DeliveryKey: AttemptRecord],
    progress: Countdown
  ) async {
    var pushes: [APNsPush] = []
    for (index, delivery) in deliveries.enumerated() {
      do {
        pushes.append(try APNsPush(delivery, tag: UInt64(index)))
      } catch {
        telemetry.unsendable(delivery, error)
        conclude(
          delivery, .rejected, error.code == "payload_too_large" ? .payloadTooLarge : .payloadInvalid,
          attempts: earlier[delivery.key].map { [$0] } ?? [], progress)
      }
    }
    let startedAt = clock.wall()
    let outcomes = await transports[environment].send(pushes)
    var again: [OutgoingDelivery] = []
    var tried: [DeliveryKey: AttemptRecord] = [:]
    for outcome in outcomes {
      let delivery = deliveries[Int(outcome.tag)]
      let before = earlier[delivery.key]
      let attempt = AttemptRecord(
        outcome, number: (before?.number ?? 0), environment: environment, startedAt: startedAt)
      telemetry.attempted(outcome, environment: environment)
      if before == nil, let attempt, attempt.reason == "BadDeviceToken", !delivery.environmentIsLearned {
        again.append(delivery)
        tried[delivery.key] = attempt
      } else {
        conclude(delivery, outcome.state, outcome.reason, attempts: [before, attempt].compactMap { $0 }, progress)
      }
    }
    guard !again.isEmpty else { return }
    await send(again, to: environment == .sandbox ? .production : .sandbox, after: tried, progress: progress)
  }

  private func conclude(
    _ delivery: OutgoingDelivery, _ state: DeliveryState, _ reason: ReasonCode?, attempts: [AttemptRecord],
    _ progress: Countdown
  ) {
    let outcome = DeliveryOutcome(
      key: delivery.key, state: state, reason: reason, at: clock.wall(), token: delivery.token, attempts: attempts)
    journal.add(outcome) { self.ended(progress) }
  }
}

extension APNsPush {
  fileprivate init(_ delivery: OutgoingDelivery, tag: UInt64) throws(APNsRequestError) {
    let type = APNsPushType(rawValue: delivery.push.pushType)
    guard let topic = delivery.topic else {
      throw APNsRequestError(code: "header_invalid", message: "The device has no topic; register it with a bundle id.")
    }
    let head = try APNsHead(
      topic: topic, pushType: type, priority: APNsPriority(rawValue: delivery.push.priority),
      expiration: try delivery.expiresAt.map { time throws(APNsRequestError) in
        try APNsExpiration(unixSeconds: time.seconds)
      }, collapseID: delivery.push.collapseID)
    let payload = try APNsPayload(checking: delivery.push.payload, for: type)
    self.init(
      tag: tag, request: APNsRequest(token: delivery.token, head: head, payload: payload),
      apnsID: try APNsID(checking: delivery.apnsID), expiresAt: delivery.expiresAt)
  }
}

extension AttemptRecord {
  /// `nil` when no byte of it can have reached the provider.
  fileprivate init?(
    _ outcome: APNsOutcome, number: Int, environment: PushEnvironment, startedAt: WallTime
  ) {
    guard outcome.attempts > 0 else { return nil }
    self.init(
      number: number + outcome.attempts, startedAt: startedAt, duration: outcome.duration, environment: environment,
      status: outcome.status, reason: outcome.reason?.apnsReason, tokenDeadSince: outcome.timestamp,
      apnsID: outcome.apnsID.description, apnsUniqueID: outcome.apnsUniqueID, connection: "c\(outcome.connection)")
  }
}
