import Delivery
import PabalPrimitives
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Production's transport against the stand-in's core over a scripted network.
@Suite struct SimulationTests {
  private static let scale = getenv("PABAL_TEST_SCALE").flatMap { UInt64(String(cString: $0)) } ?? 1
  /// 1,000 in `make test`, 10,000 in `make test-long`; one costs some 50 ms in a debug build.
  static let seeds = 1..<(min(1000 * max(1, scale), 10_000) + 1)
  /// Later seeds that have shown what was wrong.
  private static let telling: [UInt64] = seeds.contains(9063) ? [] : [9063]
  /// Fewer occurrences of a fault or a state than this prove nothing about it.
  static let leastOccurrences = scale > 1 ? 50 : 20

  /// Sums over many runs.
  private struct Tally: Sendable {
    var states: [String: Int] = [:]
    var faults: [String: Int] = [:]
    var repeats = 0
    var violations: [String] = []

    mutating func add(_ finding: SimulationFinding, seed: UInt64) {
      violations += finding.violations.map { "seed \(seed): \($0)" }
      states.merge(finding.states, uniquingKeysWith: +)
      faults.merge(finding.faults, uniquingKeysWith: +)
      repeats += finding.repeats
    }

    mutating func add(_ other: Tally) {
      violations += other.violations
      states.merge(other.states, uniquingKeysWith: +)
      faults.merge(other.faults, uniquingKeysWith: +)
      repeats += other.repeats
    }
  }

  @Test(
    "Each seed: one outcome for each push, nothing taken is repeated unless it may be; every fault and state happens")
  func seeds() async throws {
    let lanes = 2
    let total = try await withThrowingTaskGroup(of: Tally.self) { group in
      for lane in 0..<lanes {
        group.addTask {
          try await Self.onOwnThread {
            var tally = Tally()
            for seed in Self.seeds + Self.telling where Int(seed) % lanes == lane {
              tally.add(try SimulatedRun(seed: seed).finish(), seed: seed)
            }
            return tally
          }
        }
      }
      return try await group.reduce(into: Tally()) { $0.add($1) }
    }
    #expect(total.violations == [])
    print("simulation: \(Self.seeds.count) seeds, \(total.repeats) repeats")
    print("simulation: states \(total.states.sorted { $0.key < $1.key })")
    print("simulation: faults \(total.faults.sorted { $0.key < $1.key })")
    for kind in SimulationPlan.faultKinds + NetworkFault.allCases.map(\.rawValue) {
      let count = total.faults[kind, default: 0]
      #expect(count >= Self.leastOccurrences, "\(kind) was played \(count) times")
    }
    for state in ["accepted", "rejected", "expired", "unknown", "canceled"] {
      let count = total.states[state, default: 0]
      #expect(count >= Self.leastOccurrences, "\(state) happened \(count) times")
    }
  }

  @Test("The same seed twice gives the same trace; another seed another one", arguments: [7, 99, 314] as [UInt64])
  func sameSeedSameTrace(seed: UInt64) async throws {
    let traces = try await Self.onOwnThread {
      try [seed, seed, seed + 1].map { try SimulatedRun(seed: $0).finish().trace }
    }
    #expect(traces[0] == traces[1])
    #expect(traces[0] != traces[2])
  }

  @Test("A planted bug is found within the seeds", arguments: PlantedBug.allCases)
  func plantedBugs(bug: PlantedBug) async throws {
    let found = try await Self.onOwnThread { () throws -> (seed: UInt64, violation: String)? in
      for seed in Self.seeds {
        let finding = try SimulatedRun(seed: seed, planted: bug).finish()
        if let violation = finding.violations.first { return (seed, violation) }
      }
      return nil
    }
    let (seed, violation) = try #require(found, "\(bug) was not found")
    print("simulation: \(bug) found by seed \(seed): \(violation)")
  }

  /// Seeds are nothing but work, for a minute: on the pool's threads every other test would wait for them.
  private static func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await OwnThread.run { Result { try work() } }.get()
  }
}
