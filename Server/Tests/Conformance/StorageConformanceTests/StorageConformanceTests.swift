import SQLiteStorage
import Storage
import StorageConformance
import Testing

/// Both conformers, through every sentence of the port.
@Suite struct StorageConformanceTests {
  @Test(arguments: ConformanceSuite.checks)
  func memory(_ check: ConformanceCheck) async throws {
    try await check.run(MemoryStorage())
  }

  @Test(arguments: ConformanceSuite.checks)
  func sqlite(_ check: ConformanceCheck) async throws {
    try await withTemporaryStore { storage, _ in try await check.run(storage) }
  }

  // MARK: Field cases, by name

  /// The fourth run, an unknown key in the answer, is the reply parser's.
  @Test("OC-20 the time of a 410 is weighed against the last registration") func oc20() async throws {
    try await both("OC-20")
  }

  @Test("OC-40 20 parallel equal registrations: one id, one row, one push") func oc40() async throws {
    try await both("OC-40")
  }

  @Test("OC-43 a rotated token replaces the old one, and no moment is without one") func oc43() async throws {
    try await both("OC-43")
  }

  @Test("OC-44 with an install id the old token is superseded, without one both live") func oc44() async throws {
    try await both("OC-44")
  }

  @Test("OC-46 a shared phone belongs to whoever registered last") func oc46() async throws {
    try await both("OC-46")
  }

  @Test("OC-47 a log-out takes one device of three, and may be repeated") func oc47() async throws {
    try await both("OC-47")
  }

  private func both(_ fieldCase: String) async throws {
    let check = try #require(ConformanceSuite.checks.first { $0.description.hasPrefix(fieldCase) })
    try await check.run(MemoryStorage())
    try await withTemporaryStore { storage, _ in try await check.run(storage) }
  }
}
