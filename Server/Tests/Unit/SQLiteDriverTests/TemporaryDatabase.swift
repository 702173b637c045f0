#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import SQLiteDriver
import Testing

/// A folder for one database file, removed at the end.
func withDatabaseFile(_ body: (_ path: String) async throws -> Void) async throws {
  var template = Array("/tmp/pabal-sqlite-XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    for suffix in ["", "-wal", "-shm"] { unlink(folder + "/test.sqlite" + suffix) }
    rmdir(folder)
  }
  try await body(folder + "/test.sqlite")
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

func fileBytes(_ path: String) throws -> [UInt8] {
  let file = try #require(fopen(path, "rb"))
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: fileSize(path) ?? 0)
  let count = fread(&bytes, 1, bytes.count, file)
  return Array(bytes.prefix(count))
}
