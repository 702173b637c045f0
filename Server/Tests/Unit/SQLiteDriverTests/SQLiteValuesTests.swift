import PabalPrimitives
import SQLiteDriver
import Testing

@Suite struct SQLiteValuesTests {
  @Test func `bound values come back as they went in`() async throws {
    let values: [SQLiteValue] = [
      .null, 0, .integer(.min), .integer(.max), .text(""), .text("안녕 \u{0} nul"), .text("'; DROP TABLE t; --"),
      .blob([]), .blob([0, 255, 0]), .blob([UInt8](repeating: 7, count: 100_000)),
    ]
    try await withDatabase { database, _ in
      try await database.write { connection in
        try connection.run("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
        for value in values { try connection.run("INSERT INTO t (value) VALUES (?)", value) }
      }
      let found = try await database.read { connection in
        try connection.rows("SELECT value, typeof(value) FROM t ORDER BY id") { row -> SQLiteValue in
          switch row.text(1) {
          case "null": .null
          case "integer": .integer(row.integer(0))
          case "text": .text(row.text(0))
          default: .blob(row.blob(0))
          }
        }
      }
      #expect(found == values)
    }
  }

  @Test func `a statement with too few values is not run`() async throws {
    try await withDatabase { database, _ in
      let error = await #expect(throws: SQLiteError.self) {
        try await database.write { _ = try $0.run("SELECT ?, ?", 1) }
      }
      #expect(error?.kind == .misuse)
    }
  }

  @Test func `a statement that is started inside its own rows is refused`() async throws {
    @Sendable func counted(_ connection: SQLiteConnection, deeper: Bool) throws -> [Int64] {
      try connection.rows("SELECT 1") { row in
        if deeper { _ = try counted(connection, deeper: false) }
        return row.integer(0)
      }
    }
    try await withDatabase { database, _ in
      let error = await #expect(throws: SQLiteError.self) {
        try await database.read { _ = try counted($0, deeper: true) }
      }
      #expect(error?.kind == .misuse)
    }
  }

  @Test func `messages name what failed but no bound value`() async throws {
    try await withDatabase { database, _ in
      try await database.write { _ = try $0.run("CREATE TABLE t (name TEXT UNIQUE)") }
      let error = await #expect(throws: SQLiteError.self) {
        try await database.write { connection in
          for _ in 0..<2 { try connection.run("INSERT INTO t VALUES (?)", .text("canary-value")) }
        }
      }
      #expect(error?.kind == .constraint)
      #expect(error?.description.contains("canary-value") == false)
    }
  }
}
