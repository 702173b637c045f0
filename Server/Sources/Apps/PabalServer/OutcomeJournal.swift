import Observability
import PabalModel
import PabalPrimitives
import Storage

/// Brings outcomes to the store in batches: at once when nothing is being written, else with the next commit.
///
/// Nothing is dropped: a store that refuses is asked again, and whoever sends is held up by `room` meanwhile.
final class OutcomeJournal: Sendable {
  private struct Entry {
    let outcome: DeliveryOutcome
    let recorded: @Sendable () -> Void
  }

  private struct State {
    var entries: [Entry] = []
    var isFinishing = false
  }

  private let state = Locked(State())
  private let storage: any PushStorage
  private let telemetry: ServerTelemetry
  private let wakeUps: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation

  /// A disk that was full is asked again after this long.
  private static let pause = Duration.milliseconds(500)

  init(storage: any PushStorage, telemetry: ServerTelemetry) {
    self.storage = storage
    self.telemetry = telemetry
    (wakeUps, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// - Parameter recorded: called once the outcome is on the disk.
  func add(_ outcome: DeliveryOutcome, recorded: @escaping @Sendable () -> Void) {
    state.withLock { $0.entries.append(Entry(outcome: outcome, recorded: recorded)) }
    wake.yield()
  }

  /// Writes until `finish`, and then what is left.
  func run() async {
    for await _ in wakeUps { await writeAll() }
    await writeAll()
  }

  /// What the store refuses from now on is not tried again: its marks stay, and the next start settles them.
  func finish() {
    state.withLock { $0.isFinishing = true }
    wake.finish()
  }

  private func writeAll() async {
    while true {
      let batch = state.withLock { state -> [Entry] in
        let batch = Array(state.entries.prefix(StorageLimits.outcomesPerCommit))
        state.entries.removeFirst(batch.count)
        return batch
      }
      if batch.isEmpty { return }
      await write(batch)
    }
  }

  private func write(_ batch: [Entry]) async {
    while true {
      do {
        let results = try await storage.recordOutcomes(batch.map(\.outcome))
        for (entry, result) in zip(batch, results) { telemetry.recorded(entry.outcome, result) }
        break
      } catch {
        telemetry.storeRefused(error)
        let isFinishing = state.withLock { $0.isFinishing }
        if isFinishing || error.kind == .closed || error.kind == .invalidCall { break }
        do { try await Task.sleep(for: Self.pause) } catch { break }
      }
    }
    for entry in batch { entry.recorded() }
  }
}
