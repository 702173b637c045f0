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
  /// 500 in `make test`; `PABAL_TEST_SCALE` multiplies.
  static var seeds: Range<UInt64> {
    let scale = getenv("PABAL_TEST_SCALE").flatMap { UInt64(String(cString: $0)) } ?? 1
    return 1..<(500 * max(1, scale) + 1)
  }

  @Test("500 seeds: one outcome each, nothing taken is repeated unless it may be; every fault and state happens")
  func seeds() throws {
    var states: [String: Int] = [:]
    var faults: [String: Int] = [:]
    var repeats = 0
    for seed in Self.seeds {
      let finding = try SimulatedRun(seed: seed).finish()
      #expect(finding.violations.isEmpty, "seed \(seed)")
      states.merge(finding.states, uniquingKeysWith: +)
      faults.merge(finding.faults, uniquingKeysWith: +)
      repeats += finding.repeats
    }
    print("simulation: states \(states.sorted { $0.key < $1.key }), repeats \(repeats)")
    print("simulation: faults \(faults.sorted { $0.key < $1.key })")
    for kind in SimulationPlan.faultKinds + NetworkFault.allCases.map(\.rawValue) {
      #expect(faults[kind, default: 0] >= 20, "\(kind) was played \(faults[kind, default: 0]) times")
    }
    for state in ["accepted", "rejected", "expired", "unknown", "canceled"] {
      #expect(states[state, default: 0] >= 20, "\(state) happened \(states[state, default: 0]) times")
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

  @Test("A planted bug is found within the seeds", arguments: [PlantedBug.resendAccepted, .leakPermit])
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
