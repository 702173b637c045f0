import PabalPrimitives
import SQLiteDriver
import TestSupport
import Testing

@Suite struct SQLiteMigrationTests {
  private static let first = SQLiteMigration(version: 1, statements: ["CREATE TABLE a (id INTEGER PRIMARY KEY)"])
  private static let second = SQLiteMigration(version: 2, statements: ["CREATE TABLE b (id INTEGER PRIMARY KEY)"])
  private static let broken = SQLiteMigration(
    version: 2, statements: ["CREATE TABLE b (id INTEGER PRIMARY KEY)", "CREATE TABLE a (id)"])
  private static let now = WallTime(milliseconds: 1_800_000_000_000)

  private static func tables(_ database: SQLiteDatabase) async throws -> [String] {
    try await database.read {
      try $0.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
    }
  }

  private static func open(_ path: String, _ migrations: [SQLiteMigration]) async throws -> SQLiteDatabase {
    try await SQLiteDatabase.open(path: path, readers: 1) { try $0.migrate(through: migrations, at: now) }
  }

  @Test func `an older file gets the missing steps only`() async throws {
    try await withDatabaseFile { path in
      try await Self.open(path, [Self.first]).close()
      let database = try await Self.open(path, [Self.first, Self.second])
      #expect(try await Self.tables(database) == ["a", "b", "migration"])
      let versions = try await database.read { try $0.rows("SELECT version FROM migration") { $0.integer(0) } }
      #expect(versions == [1, 2])
      await database.close()
    }
  }

  @Test func `a file of a newer program is refused before anything is written`() async throws {
    try await withDatabaseFile { path in
      try await Self.open(path, [Self.first, Self.second]).close()
      let before = try TestFiles.read(path)
      let error = await #expect(throws: SQLiteError.self) { _ = try await Self.open(path, [Self.first]) }
      #expect(error?.kind == .newerSchema)
      #expect(error?.message.contains("Start the newer program") == true)
      #expect(try TestFiles.read(path) == before)
    }
  }

  @Test func `a step that fails leaves the file at the step before`() async throws {
    try await withDatabaseFile { path in
      await #expect(throws: SQLiteError.self) { _ = try await Self.open(path, [Self.first, Self.broken]) }
      let database = try await Self.open(path, [Self.first])
      #expect(try await Self.tables(database) == ["a", "migration"])
      await database.close()
    }
  }
}
