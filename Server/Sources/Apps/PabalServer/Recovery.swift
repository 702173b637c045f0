import PabalModel
import PabalPrimitives
import Storage

/// Settles what an earlier process left behind.
struct Recovery: Sendable {
  let storage: any PushStorage
  let dispatcher: Dispatcher
  let telemetry: ServerTelemetry
  let clock: Clock

  /// A mark without outcome: sent again when a repeat would replace itself, else `unknown`. What is accepted and has no
  /// mark was never sent and goes out now, or when it is due.
  ///
  /// - Parameter marks: as they were before this process took anything in.
  func run(_ marks: [OpenMark]) async throws(StorageError) {
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
    await dispatcher.dispatch(repeats, wait: .zero, since: 0)
    let queued = await dispatcher.claimDue()
    telemetry.recovered(unknown: unknown.count, repeated: repeats.count, queued: queued)
  }
}
