package import APNs
package import EventLoop
internal import PabalPrimitives
package import TLS

/// Sends pushes to one APNs endpoint with one credential, from any task.
///
/// The batch is the primitive: callers put batches into a mailbox, the loop takes them all at once and answers each
/// with one wake-up, so a thousand pushes cost one hand-over and not a thousand. The number of pushes inside is
/// bounded; beyond it callers wait. Call `shutdown` before the loop is stopped, or those who wait would wait for ever.
package final class APNsTransport: Sendable {
  private let loop: any Loop
  private let core: LoopConfined<TransportCore>
  package let endpoint: Endpoint
  private let queueLimit: Int
  private let state = Locked(State())

  private struct State {
    var mail: [Mail] = []
    /// Pushes inside, from hand-over to the moment their outcomes are taken.
    var admitted = 0
    var forRoom: [CheckedContinuation<Void, Never>] = []
    var nextBatch: UInt64 = 1
    /// Taken back by their callers, perhaps before they came in.
    var withdrawn: Set<UInt64> = []
  }

  private struct Mail {
    let id: UInt64
    var batch: PushBatch
    let sink: any OutcomeSink
    /// The sink of a batch that single pushes may still join.
    var singles: SinglesSink?
  }

  package init(configuration: APNsTransportConfiguration, loop: any Loop) {
    self.loop = loop
    endpoint = configuration.endpoint
    queueLimit = configuration.queueLimit ?? configuration.concurrency * TransportLimits.queuedForEachRequest
    core = LoopConfined(TransportCore(configuration: configuration, loop: loop), to: loop.mark)
  }

  /// Sends a batch and returns one outcome for each push, in the order in which they ended; `tag` says which is whose.
  ///
  /// When the caller's task is cancelled, unsent pushes end `canceled` and written ones `unknown`, at once.
  package func send(_ batch: PushBatch) async -> [APNsOutcome] {
    guard batch.count > TransportLimits.batchPushes else { return await sendOne(batch) }
    return await withTaskGroup(of: [APNsOutcome].self) { group in
      for part in batch.parts(ofAtMost: TransportLimits.batchPushes) {
        group.addTask { await self.sendOne(part) }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  package func send(_ pushes: [APNsPush]) async -> [APNsOutcome] {
    await send(PushBatch(pushes))
  }

  /// Sends one push. Those that come in before the loop's next turn are one batch, so that thousands of tasks with a
  /// push each cost little more than one with thousands.
  ///
  /// When the caller's task is cancelled, the push ends at once: unsent `canceled`, written `unknown`.
  package func send(_ push: APNsPush) async -> APNsOutcome {
    let place: GatheredPush
    if let here = joinIfThereIsRoom(push) {
      place = here
    } else {
      await waitForRoom(1)
      place = join(push)
    }
    return await withTaskCancellationHandler {
      await place.sink.outcome(at: place.index)
    } onCancel: {
      afterMail { $0.cancel(batch: place.batch, push: place.index, grace: .zero) }
    }
  }

  /// A stream of pushes whose outcomes come back in chunks, for lists too long to hold.
  package func startRun() -> APNsRun {
    APNsRun(transport: self)
  }

  /// Goes on with another credential, a replaced key or a renewed certificate, while pushes are under way: none is lost
  /// and none is sent twice. The old connections run out.
  ///
  /// - Parameter tls: with the credential's certificate; `nil` keeps what is in use.
  package func replaceCredential(_ credential: APNsCredential, tls: TLSClientContext? = nil) {
    loop.execute { [core] in core.value.replaceCredential(credential, tls: tls) }
  }

  /// Takes pushes back whose reasons have changed: what is unsent ends `canceled` at once, also what is only on its way
  /// in; what is written waits for its reply and is not repeated. Their tags must be theirs alone.
  ///
  /// - Returns: how many are written and have no reply yet: these cannot be called back.
  package func withdraw(_ tags: Set<UInt64>) async -> Int {
    state.withLock { $0.withdrawn.formUnion(tags) }
    return await withCheckedContinuation { continuation in
      afterMail { continuation.resume(returning: $0.withdraw(tags)) }
    }
  }

  /// Ends everything: what is unsent now, what is written after `grace`. New pushes may follow.
  package func interrupt(grace: Duration = TransportLimits.graceOnCancel) {
    afterMail { $0.cancelAll(grace: grace) }
  }

  /// As `interrupt`, then closes all connections; returns when the last one is gone.
  package func shutdown(grace: Duration = TransportLimits.graceOnCancel) async {
    await withCheckedContinuation { continuation in
      afterMail { $0.shutdown(grace: grace) { continuation.resume() } }
    }
  }

  package func statistics() async -> TransportStatistics {
    await withCheckedContinuation { continuation in
      loop.execute { [core] in continuation.resume(returning: core.value.statistics) }
    }
  }

  private func sendOne(_ batch: PushBatch) async -> [APNsOutcome] {
    guard !batch.isEmpty else { return [] }
    await waitForRoom(batch.count)
    let sink = BatchSink()
    let id = post(batch, to: sink)
    let outcomes = await withTaskCancellationHandler {
      await sink.outcomes()
    } onCancel: {
      afterMail { $0.cancel(batch: id, grace: .zero) }
    }
    settle(outcomes)
    return outcomes
  }

  // MARK: The mailbox

  /// Returns when there is room; the room is taken then.
  func waitForRoom(_ count: Int) async {
    while true {
      let entered = state.withLock { state -> Bool in
        // A batch may go past the limit once, so that none is too large to enter.
        guard state.admitted < queueLimit else { return false }
        state.admitted += count
        return true
      }
      if entered { return }
      await withCheckedContinuation { continuation in
        let isFull = state.withLock { state -> Bool in
          guard state.admitted >= queueLimit else { return false }
          state.forRoom.append(continuation)
          return true
        }
        if !isFull { continuation.resume() }
      }
    }
  }

  /// These have ended: there is room for as many, and nobody takes them back any more.
  func settle(_ outcomes: [APNsOutcome]) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      if !state.withdrawn.isEmpty { state.withdrawn.subtract(outcomes.lazy.map(\.tag)) }
      state.admitted -= outcomes.count
      guard state.admitted < queueLimit, !state.forRoom.isEmpty else { return [] }
      defer { state.forRoom = [] }
      return state.forRoom
    }
    waiting.forEach { $0.resume() }
  }

  /// Puts a batch into the mailbox and wakes the loop if the mailbox was empty.
  ///
  /// - Returns: its number, to cancel it by.
  func post(_ batch: PushBatch, to sink: any OutcomeSink) -> UInt64 {
    let (id, wasEmpty) = state.withLock { state in
      let id = state.nextBatch
      state.nextBatch += 1
      state.mail.append(Mail(id: id, batch: batch, sink: sink))
      return (id, state.mail.count == 1)
    }
    if wasEmpty { loop.execute { self.takeMail() } }
    return id
  }

  /// A single push in the mailbox.
  private struct GatheredPush {
    let batch: UInt64
    let index: Int
    let sink: SinglesSink
    let isFirstMail: Bool
  }

  private func joinIfThereIsRoom(_ push: APNsPush) -> GatheredPush? {
    let place = state.withLock { state -> GatheredPush? in
      guard state.admitted < queueLimit else { return nil }
      state.admitted += 1
      return join(push, in: &state)
    }
    if place?.isFirstMail == true { loop.execute { self.takeMail() } }
    return place
  }

  private func join(_ push: APNsPush) -> GatheredPush {
    let place = state.withLock { join(push, in: &$0) }
    if place.isFirstMail { loop.execute { self.takeMail() } }
    return place
  }

  private func join(_ push: APNsPush, in state: inout State) -> GatheredPush {
    if let last = state.mail.indices.last, let sink = state.mail[last].singles,
      state.mail[last].batch.count < TransportLimits.gatheredPushes
    {
      let index = state.mail[last].batch.count
      state.mail[last].batch.append(push)
      return GatheredPush(batch: state.mail[last].id, index: index, sink: sink, isFirstMail: false)
    }
    let sink = SinglesSink(transport: self)
    var batch = PushBatch(reserving: 1)
    batch.append(push)
    let id = state.nextBatch
    state.nextBatch += 1
    state.mail.append(Mail(id: id, batch: batch, sink: sink, singles: sink))
    return GatheredPush(batch: id, index: 0, sink: sink, isFirstMail: state.mail.count == 1)
  }

  /// With the core, once it has what is in the mailbox: whose letter came after another's relies on that other caller
  /// to wake the loop, which may not have happened yet.
  private func afterMail(_ work: @escaping @Sendable (TransportCore) -> Void) {
    loop.execute {
      self.takeMail()
      work(self.core.value)
    }
  }

  private func takeMail() {
    let (mail, withdrawn) = state.withLock { state in
      defer { state.mail = [] }
      return (state.mail, state.withdrawn)
    }
    for letter in mail { core.value.take(letter.batch, id: letter.id, for: letter.sink) }
    if !mail.isEmpty, !withdrawn.isEmpty { _ = core.value.withdraw(withdrawn) }
  }
}
