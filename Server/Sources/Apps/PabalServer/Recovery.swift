import PabalModel
import PabalPrimitives
import Storage

/// Settles what an earlier process left behind.
struct Recovery: Sendable {
  let storage: any PushStorage
  let dispatcher: Dispatcher
  let telemetry: ServerTelemetry
  let clock: Clock

  private static let claimedAtOnce = 500

  /// A mark without outcome: sent again when a repeat would replace itself, else `unknown`. What is accepted and has no
  /// mark was never sent and goes out now.
  func run() async throws(StorageError) {
    let marks = try await storage.openMarks()
    let repeats = marks.compactMap(\.repeatable)
    let unknown = marks.filter { $0.repeatable == nil }.map { mark in
      DeliveryOutcome(
        key: mark.key, state: .unknown, reason: .processStopped, at: clock.wall(), token: nil, attempts: [])
    }
    for start in stride(from: 0, to: unknown.count, by: StorageLimits.outcomesPerCommit) {
      let batch = Array(unknown[start..<min(unknown.count, start + StorageLimits.outcomesPerCommit)])
      for (outcome, result) in zip(batch, try await storage.recordOutcomes(batch)) {
        telemetry.recorded(outcome, result)
      }
    }
    await dispatcher.dispatch(repeats, wait: .zero)
    var queued = 0
    while true {
      let claimed = try await storage.claimQueued(limit: Self.claimedAtOnce, at: clock.wall())
      if claimed.isEmpty { break }
      queued += claimed.count
      await dispatcher.dispatch(claimed, wait: .zero)
    }
    telemetry.recovered(unknown: unknown.count, repeated: repeats.count, queued: queued)
  }
}
