#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import SQLiteStorage
import Testing

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

func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  var template = Array("/tmp/pabal-test-XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    for name in ["pabal.sqlite", "pabal.sqlite-wal", "pabal.sqlite-shm"] { unlink(folder + "/" + name) }
    rmdir(folder)
  }
  try await body(folder)
}
