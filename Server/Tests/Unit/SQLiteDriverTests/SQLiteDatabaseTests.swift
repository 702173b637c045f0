#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import PabalPrimitives
import SQLiteDriver
import TestSupport
import Testing

@Suite struct SQLiteDatabaseTests {
  private struct Refused: Error {}

  @Test func `a call that fails takes nothing of its neighbours in the same commit along`() async throws {
    try await withDatabase { database, _ in
      try await database.write { _ = try $0.run("CREATE TABLE t (id INTEGER PRIMARY KEY)") }
      let failures = await withTaskGroup(of: Bool.self) { group in
        for number in Int64(1)...100 {
          group.addTask {
            do {
              try await database.write { connection in
                try connection.run("INSERT INTO t VALUES (?)", .integer(number))
                if number % 5 == 0 { throw Refused() }
              }
              return false
            } catch {
              return true
            }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(failures == 20)
      let kept = try await database.read { try $0.rows("SELECT id FROM t") { $0.integer(0) } }
      #expect(kept == (1...100).filter { $0 % 5 != 0 })
    }
  }

  @Test func `a read sees every write that has returned`() async throws {
    try await withDatabase { database, _ in
      try await database.write { _ = try $0.run("CREATE TABLE t (id INTEGER PRIMARY KEY)") }
      for number in Int64(1)...50 {
        try await database.write { _ = try $0.run("INSERT INTO t VALUES (?)", .integer(number)) }
        let newest = try await database.read { try $0.first("SELECT max(id) FROM t") { $0.integer(0) } }
        #expect(newest == number)
      }
    }
  }

  @Test func `a read that takes too long is ended, and the next one is served`() async throws {
    try await withDatabaseFile { path in
      let database = try await SQLiteDatabase.open(path: path, readers: 1, readLimit: .milliseconds(1)) { _ in }
      let error = await #expect(throws: SQLiteError.self) {
        _ = try await database.read { connection in
          try connection.first(
            "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
          ) { $0.integer(0) }
        }
      }
      #expect(error?.kind == .interrupted)
      #expect(try await database.read { try $0.first("SELECT 1") { $0.integer(0) } } == 1)
      await database.close()
    }
  }

  @Test func `readers cannot write`() async throws {
    try await withDatabase { database, _ in
      let error = await #expect(throws: SQLiteError.self) {
        try await database.read { _ = try $0.run("CREATE TABLE t (id)") }
      }
      #expect(error?.kind == .readOnly)
    }
  }

  @Test func `every commit is synced, and old pages are wiped`() async throws {
    try await withDatabase { database, _ in
      let settings = try await database.write { connection in
        [
          try connection.first("PRAGMA synchronous") { $0.text(0) },
          try connection.first("PRAGMA journal_mode") { $0.text(0) },
          try connection.first("PRAGMA secure_delete") { $0.text(0) },
          try connection.first("PRAGMA wal_autocheckpoint") { $0.text(0) },
        ]
      }
      #expect(settings == ["2", "wal", "1", "0"])
    }
  }

  @Test func `the log stays short under a steady writer and is gone after an orderly end`() async throws {
    try await withDatabaseFile { path in
      let database = try await SQLiteDatabase.open(path: path, readers: 1) { _ in }
      try await database.write { _ = try $0.run("CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)") }
      let value = [UInt8](repeating: 1, count: 256 * 1_024)
      var longest = 0
      for _ in 0..<320 {
        try await database.write { _ = try $0.run("INSERT INTO t (value) VALUES (?)", .blob(value)) }
        longest = max(longest, fileSize(path + "-wal") ?? 0)
      }
      // 80 MB were written; without the writer's own checkpoints the log would hold all of them.
      #expect(longest < 48 * 1_024 * 1_024, "the log grew to \(longest) bytes")
      await database.close()
      #expect(fileSize(path + "-wal") ?? 0 == 0)
      #expect(fileSize(path) ?? 0 > 80_000_000)
    }
  }

  @Test func `what waits when the database is closed is still done, later calls are refused`() async throws {
    try await withDatabaseFile { path in
      let database = try await SQLiteDatabase.open(path: path, readers: 1) { connection in
        try connection.run("CREATE TABLE t (id INTEGER PRIMARY KEY)")
      }
      await database.close()
      let error = await #expect(throws: SQLiteError.self) {
        try await database.write { _ = try $0.run("INSERT INTO t VALUES (1)") }
      }
      #expect(error?.kind == .closed)
    }
  }

  @Test func `a file that is no database is refused and left alone`() async throws {
    try await withDatabaseFile { path in
      let file = try #require(fopen(path, "wb"))
      fputs(String(repeating: "not a database ", count: 500), file)
      fclose(file)
      let before = try TestFiles.read(path)
      let error = await #expect(throws: SQLiteError.self) {
        _ = try await SQLiteDatabase.open(path: path, readers: 1) { _ in }
      }
      #expect(error?.kind == .corrupt)
      #expect(try TestFiles.read(path) == before)
    }
  }

  @Test func `a missing folder is an error, not a crash`() async throws {
    let error = await #expect(throws: SQLiteError.self) {
      _ = try await SQLiteDatabase.open(path: "/nonexistent/folder/x.sqlite", readers: 1) { _ in }
    }
    #expect(error?.kind == .cannotOpen)
  }
}
