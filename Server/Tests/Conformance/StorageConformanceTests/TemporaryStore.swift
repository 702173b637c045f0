import SQLiteStorage
import TestSupport

let testMasterKey = [UInt8](0..<32)

/// A SQLite store in a folder of its own, which is removed at the end.
func withTemporaryStore(
  _ body: (SQLitePushStorage, _ path: String) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let path = folder + "/pabal.sqlite"
    let storage = try await SQLitePushStorage.open(path: path, masterKey: testMasterKey)
    do {
      try await body(storage, path)
    } catch {
      await storage.close()
      throw error
    }
    await storage.close()
  }
}
