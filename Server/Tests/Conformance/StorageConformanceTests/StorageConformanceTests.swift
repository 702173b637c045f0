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
}
