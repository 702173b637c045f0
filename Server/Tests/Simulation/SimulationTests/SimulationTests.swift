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
  /// Fewer occurrences of a fault or a state than this prove nothing about it.
  static let leastOccurrences = scale > 1 ? 50 : 20

  /// Sums over many runs.
  private struct Tally: Sendable {
    var states: [String: Int] = [:]
    var faults: [String: Int] = [:]
    var repeats = 0

    mutating func add(_ finding: SimulationFinding) {
      states.merge(finding.states, uniquingKeysWith: +)
      faults.merge(finding.faults, uniquingKeysWith: +)
      repeats += finding.repeats
    }

    mutating func add(_ other: Tally) {
      states.merge(other.states, uniquingKeysWith: +)
      faults.merge(other.faults, uniquingKeysWith: +)
      repeats += other.repeats
    }
  }

  @Test(
    "Each seed: one outcome for each push, nothing taken is repeated unless it may be; every fault and state happens")
  func seeds() async throws {
    let lanes = 4
    let total = try await withThrowingTaskGroup(of: Tally.self) { group in
      for lane in 0..<lanes {
        group.addTask {
          var tally = Tally()
          for seed in Self.seeds where Int(seed) % lanes == lane {
            let finding = try SimulatedRun(seed: seed).finish()
            #expect(finding.violations.isEmpty, "seed \(seed)")
            tally.add(finding)
          }
          return tally
        }
      }
      return try await group.reduce(into: Tally()) { $0.add($1) }
    }
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
  func sameSeedSameTrace(seed: UInt64) throws {
    let first = try SimulatedRun(seed: seed).finish()
    let second = try SimulatedRun(seed: seed).finish()
    let other = try SimulatedRun(seed: seed + 1).finish()
    #expect(first.trace == second.trace)
    #expect(first.trace != other.trace)
  }

  @Test("A planted bug is found within the seeds", arguments: PlantedBug.allCases)
  func plantedBugs(bug: PlantedBug) throws {
    for seed in Self.seeds {
      let finding = try SimulatedRun(seed: seed, planted: bug).finish()
      guard let violation = finding.violations.first else { continue }
      print("simulation: \(bug) found by seed \(seed): \(violation)")
      return
    }
    Issue.record("\(bug) was not found")
  }
}
