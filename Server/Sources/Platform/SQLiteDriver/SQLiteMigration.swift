package import PabalPrimitives

/// One step of a schema, as data. A released step is never edited; a change is a new step.
package struct SQLiteMigration: Sendable {
  package let version: Int64
  package let statements: [SQL]

  package init(version: Int64, statements: [SQL]) {
    self.version = version
    self.statements = statements
  }
}

extension SQLiteConnection {
  /// The newest step that the file has seen; 0 for an empty file.
  package func schemaVersion() throws -> Int64 {
    let isThere = try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'") { _ in true }
    guard isThere == true else { return 0 }
    return try first("SELECT max(version) FROM migration") { $0.integer(0) } ?? 0
  }

  /// Brings the file to the newest step, each step in a transaction of its own.
  ///
  /// - Throws: `newerSchema`, before anything is written, when a newer program made the file.
  package func migrate(through migrations: [SQLiteMigration], at now: WallTime) throws {
    let newest = migrations.last?.version ?? 0
    let present = try schemaVersion()
    guard present <= newest else {
      throw SQLiteError(
        .newerSchema,
        """
        The data has schema \(present), this program knows \(newest) at most. Start the newer program, or give it \
        another data folder.
        """)
    }
    for migration in migrations where migration.version > present {
      try transaction {
        if migration.version == 1 {
          try run("CREATE TABLE migration (version INTEGER PRIMARY KEY, at INTEGER NOT NULL)")
        }
        for statement in migration.statements { try run(statement) }
        try run(
          "INSERT INTO migration (version, at) VALUES (?, ?)", .integer(migration.version),
          .integer(now.milliseconds))
      }
    }
  }
}
