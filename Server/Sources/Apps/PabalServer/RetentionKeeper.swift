package import EventLoop
package import Observability
package import PabalPrimitives
package import Storage

/// Removes what has been kept long enough, a pass at the start and one each hour.
///
/// A pass is many small commits, each of which waits its turn in front of the store's one writer like any call, so that
/// no push waits for it longer than for one of them.
package final class RetentionKeeper: Sendable {
  /// Rows in one commit: 0.15 ms of the writer's processor time as measured, 1 ms at most.
  package static let bite = 64
  package static let pause = Duration.seconds(3_600)

  private static let removed = "pabal_retention_removed_total"
  private static let lastPass = "pabal_retention_last_pass_timestamp_seconds"

  private let storage: any PushStorage
  private let loop: any Loop
  private let clock: Clock
  private let metrics: Metrics
  private let log: Log
  private let isFinishing = Locked(false)
  private let wakeUps: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation

  package init(storage: any PushStorage, loop: any Loop, clock: Clock, metrics: Metrics, log: Log) {
    self.storage = storage
    self.loop = loop
    self.clock = clock
    self.metrics = metrics
    self.log = log
    (wakeUps, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    metrics.declare(
      Metrics.Declaration(
        Self.removed, .counter, help: "What retention removed: message, claim, device.", labels: ["what"]))
    metrics.declare(
      Metrics.Declaration(Self.lastPass, .gauge, help: "End of the last whole pass, seconds since 1970."))
  }

  /// Works until `finish`.
  package func run() async {
    wake.yield()
    for await _ in wakeUps {
      await pass()
      // Weak: a loop that stops before it gets to this would hold itself.
      loop.execute { [weak loop, wake] in
        loop?.schedule(after: Self.pause) { wake.yield() }
      }
    }
  }

  /// The pass that is going on ends with its present bite.
  package func finish() {
    isFinishing.withLock { $0 = true }
    wake.finish()
  }

  /// One pass over the store, by the clock as it stands at its start.
  package func pass() async {
    let now = clock.wall()
    var place: PrunePlace? = .start
    while let start = place, !isFinishing.withLock({ $0 }) {
      do {
        let step = try await storage.prune(from: start, limit: Self.bite, at: now)
        count(step)
        place = step.next
      } catch {
        log.event(
          "retention.refused", "The store refused to remove what is old; the next pass tries again", level: .error,
          ["error_code": .string(error.code)])
        return
      }
    }
    if place == nil { metrics.set(Self.lastPass, to: Double(clock.wall().milliseconds) / 1_000) }
  }

  private func count(_ step: PruneStep) {
    for (what, count) in [("message", step.messages), ("claim", step.claims), ("device", step.devices)]
    where count > 0 {
      metrics.add(Double(count), to: Self.removed, [what])
    }
  }
}
