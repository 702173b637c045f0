#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import SQLiteDriver
import TestSupport
import Testing

/// A folder for one database file, removed at the end.
func withDatabaseFile(_ body: (_ path: String) async throws -> Void) async throws {
  try await withTemporaryFolder { folder in try await body(folder + "/test.sqlite") }
}

func withDatabase(
  prepare: @escaping @Sendable (SQLiteConnection) throws -> Void = { _ in },
  _ body: (SQLiteDatabase, _ path: String) async throws -> Void
) async throws {
  try await withDatabaseFile { path in
    let database = try await SQLiteDatabase.open(path: path, readers: 2, prepare: prepare)
    do {
      try await body(database, path)
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }
}

/// Bytes of a file; `nil` if there is none.
func fileSize(_ path: String) -> Int? {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : nil
}
