internal import CSQLite
import PabalPrimitives

/// One connection, confined to the thread that opened it.
package final class SQLiteConnection {
  package enum Role: Sendable {
    /// Creates the file if it is missing.
    case writer
    case reader
    /// Looks at what is there and leaves every byte of it alone, even when it is the last to close.
    case inspector
  }

  /// Called before each statement that a caller asks for.
  var onStatement: (@Sendable () -> Void)?
  private let handle: OpaquePointer
  private var statements: [UInt: SQLiteStatement] = [:]
  private let signals: UnsafeMutablePointer<ConnectionSignals>

  /// - Throws: `cannotOpen` when the folder is missing or refuses, `corrupt` when the file is no database.
  package init(path: String, role: Role) throws(SQLiteError) {
    let access: Int32 =
      switch role {
      case .writer: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .reader, .inspector: SQLITE_OPEN_READWRITE
      }
    var opened: OpaquePointer?
    let status = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard status == SQLITE_OK, let handle = opened else {
      let error = SQLiteError(status: status, connection: opened, doing: "open the database")
      sqlite3_close_v2(opened)
      throw error
    }
    self.handle = handle
    signals = .allocate(capacity: 1)
    signals.initialize(to: ConnectionSignals())
    try configure(role)
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
    signals.deinitialize(count: 1)
    signals.deallocate()
  }

  private func configure(_ role: Role) throws(SQLiteError) {
    try check(sqlite3_busy_timeout(handle, SQLiteLimits.busyMilliseconds), "set a time limit")
    try check(pabal_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1), "configure a connection")
    try check(pabal_sqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), "configure a connection")
    switch role {
    case .writer:
      try pragma("PRAGMA journal_mode = WAL")
      try pragma("PRAGMA synchronous = FULL")
      try pragma("PRAGMA wal_autocheckpoint = 0")
      try pragma("PRAGMA secure_delete = ON")
      try pragma("PRAGMA temp_store = MEMORY")
      try pragma("PRAGMA cache_size = -16384")
      watchLog()
    case .reader:
      try pragma("PRAGMA query_only = ON")
      try pragma("PRAGMA wal_autocheckpoint = 0")
      try pragma("PRAGMA temp_store = MEMORY")
      watchTime()
    case .inspector:
      try check(pabal_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1), "configure a connection")
      try pragma("PRAGMA query_only = ON")
    }
  }

  private func check(_ status: Int32, _ action: String, file: String = #fileID, line: Int = #line) throws(SQLiteError) {
    guard status == SQLITE_OK else {
      throw SQLiteError(status: status, connection: handle, doing: action, file: file, line: line)
    }
  }

  // MARK: Statements

  /// Runs a statement that answers no rows, or whose rows do not matter.
  ///
  /// - Returns: how many rows it changed.
  @discardableResult
  package func run(_ sql: SQL, _ values: SQLiteValue...) throws -> Int {
    try statement(sql).run(values) { _ in .next }
    return Int(sqlite3_changes64(handle))
  }

  /// All rows, each turned into a value.
  package func rows<Value>(
    _ sql: SQL, _ values: SQLiteValue..., as make: (SQLiteRow) throws -> Value
  ) throws -> [Value] {
    var result: [Value] = []
    try statement(sql).run(values) { row in
      result.append(try make(row))
      return .next
    }
    return result
  }

  /// The first row, if there is one.
  package func first<Value>(
    _ sql: SQL, _ values: SQLiteValue..., as make: (SQLiteRow) throws -> Value
  ) throws -> Value? {
    var result: Value?
    try statement(sql).run(values) { row in
      result = try make(row)
      return .stop
    }
    return result
  }

  package var lastInsertedRow: Int64 {
    sqlite3_last_insert_rowid(handle)
  }

  private func statement(_ sql: SQL) throws(SQLiteError) -> SQLiteStatement {
    onStatement?()
    if let kept = statements[sql.identity] { return kept }
    let made = try SQLiteStatement(sql, on: handle)
    statements[sql.identity] = made
    return made
  }

  /// A pragma's effect may depend on being prepared anew, so these are not kept.
  private func pragma(_ sql: SQL) throws(SQLiteError) {
    let statement = try SQLiteStatement(sql, on: handle)
    do {
      try statement.run([]) { _ in .next }
    } catch let error as SQLiteError {
      throw error
    } catch {
      preconditionFailure("a row closure that throws nothing cannot bring another error")
    }
  }

  // MARK: Transactions

  package var isInTransaction: Bool {
    sqlite3_get_autocommit(handle) == 0
  }

  /// All of `body` or nothing of it.
  package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    try run("BEGIN IMMEDIATE")
    do {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      rollBack()
      throw error
    }
  }

  /// Ends the transaction if one is open. A failure here is no news: SQLite has then rolled back by itself.
  func rollBack() {
    guard isInTransaction else { return }
    sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  // MARK: The write-ahead log

  /// Pages in the log after this connection's last commit.
  var logPages: Int32 { signals.pointee.logPages }

  private func watchLog() {
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: ConnectionSignals.self).pointee.logPages = pages
        return SQLITE_OK
      }, signals)
  }

  /// Copies what no reader needs into the database; waits for nobody.
  func checkpointPassively() throws(SQLiteError) {
    let status = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    if status == SQLITE_BUSY { return }
    try check(status, "copy the log into the database")
  }

  /// Copies the whole log and cuts it to nothing; for an orderly end.
  func checkpointCompletely() throws(SQLiteError) {
    try check(
      sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil), "empty the log")
  }

  // MARK: Time limit of a read

  /// From now on until `nil`, a statement that runs past `deadline` ends with `interrupted`.
  func limit(until deadline: Instant?) {
    signals.pointee.deadline = deadline
  }

  private func watchTime() {
    sqlite3_progress_handler(
      handle, SQLiteLimits.stepsBetweenChecks,
      { context in
        guard let deadline = context?.assumingMemoryBound(to: ConnectionSignals.self).pointee.deadline else {
          return 0
        }
        return Clock.system.monotonic() > deadline ? 1 : 0
      }, signals)
  }
}

/// What SQLite's callbacks read and write; in stable memory because they only get an address.
private struct ConnectionSignals {
  var logPages: Int32 = 0
  var deadline: Instant?
}
