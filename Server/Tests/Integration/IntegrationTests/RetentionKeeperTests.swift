import Observability
import PabalModel
import PabalPrimitives
import PabalServer
import Storage
import StorageConformance
import TestSupport
import Testing

@Suite struct RetentionKeeperTests {
  @Test("a pass goes by the clock, through all bites, and says what it removed") func pass() async throws {
    let stage = try await StorageStage(MemoryStorage())
    for number in UInt8(1)...3 { try await stage.register("u", token: StorageStage.token(number)) }
    for _ in 0..<100 {
      let sent = try await stage.send(to: ["u"])
      _ = try await stage.storage.recordOutcomes(sent.map { stage.outcome(of: $0, status: 200) })
    }
    let clock = ManualClock(wall: StorageStage.time(1))
    let metrics = Metrics([])
    let keeper = RetentionKeeper(
      storage: stage.storage, loop: ScriptedLoop(seed: 1), clock: clock.clock, metrics: metrics, log: .none)
    await keeper.pass()
    #expect(try await stage.storage.counts(in: stage.appMode).messages == 100)
    #expect(metrics.value(of: "pabal_retention_last_pass_timestamp_seconds") == 1_800_000_001)
    clock.advance(by: .seconds(30 * 86_400))
    await keeper.pass()
    #expect(try await stage.storage.counts(in: stage.appMode).messages == 0)
    #expect(metrics.value(of: "pabal_retention_removed_total", ["message"]) == 100)
  }

  @Test("one pass at the start and one each hour; the end is at once") func hourly() async throws {
    let passes = Locked(0)
    let (seen, saw) = AsyncStream.makeStream(of: Int.self)
    var layer = StorageLayer(over: MemoryStorage())
    layer.pruning = {
      saw.yield(
        passes.withLock {
          $0 += 1; return $0
        })
    }
    let loop = ScriptedLoop(seed: 1)
    let keeper = RetentionKeeper(
      storage: layer, loop: loop, clock: ManualClock().clock, metrics: Metrics([]), log: .none)
    await withDiscardingTaskGroup { group in
      group.addTask { await keeper.run() }
      var number = seen.makeAsyncIterator()
      #expect(await number.next() == 1)
      // The next one is armed by a hand-over to the loop, right after the first.
      while !loop.run(until: { passes.withLock { $0 } >= 2 }, within: .seconds(3_601)) { await Task.yield() }
      #expect(await number.next() == 2)
      keeper.finish()
    }
  }
}
