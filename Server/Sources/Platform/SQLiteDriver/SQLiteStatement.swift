internal import CSQLite
import PabalPrimitives

/// A prepared statement, kept by its connection and used on that connection's thread only.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private(set) var isRunning = false

  init(_ sql: SQL, on connection: OpaquePointer) throws(SQLiteError) {
    var handle: OpaquePointer?
    let status = sql.text.withUTF8Buffer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        sqlite3_prepare_v3(
          connection, text.baseAddress, Int32(text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
      }
    }
    guard status == SQLITE_OK, let handle else {
      throw SQLiteError(status: status, connection: connection, doing: "prepare a statement")
    }
    self.handle = handle
    self.connection = connection
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Binds, steps through all rows and leaves the statement reset, its bindings cleared.
  func run(_ values: [SQLiteValue], row: (SQLiteRow) throws -> RowFlow) throws {
    guard !isRunning else {
      throw SQLiteError(.misuse, "A statement was started again from inside its own rows.")
    }
    isRunning = true
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
      isRunning = false
    }
    guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
      throw SQLiteError(.misuse, "A statement was given another number of values than it has parameters.")
    }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index) + 1) }
    while true {
      let status = sqlite3_step(handle)
      switch status {
      case SQLITE_ROW:
        if case .stop = try row(SQLiteRow(handle)) { return }
      case SQLITE_DONE:
        return
      default:
        throw SQLiteError(status: status, connection: connection, doing: "run a statement")
      }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) throws(SQLiteError) {
    let status: Int32
    switch value {
    case .null:
      status = sqlite3_bind_null(handle, index)
    case .integer(let number):
      status = sqlite3_bind_int64(handle, index, number)
    case .text(var text):
      status = text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { text in
          text.baseAddress.map { pabal_sqlite_bind_text(handle, index, $0, Int32(clamping: text.count)) }
            ?? pabal_sqlite_bind_text(handle, index, "", 0)
        }
      }
    case .blob(let bytes):
      status =
        bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : bytes.withUnsafeBytes {
          pabal_sqlite_bind_blob(handle, index, $0.baseAddress, Int32(clamping: $0.count))
        }
    }
    guard status == SQLITE_OK else {
      throw SQLiteError(status: status, connection: connection, doing: "bind a value")
    }
  }
}

enum RowFlow {
  case next
  case stop
}

/// The present row of a running statement; valid inside the closure that receives it.
package struct SQLiteRow {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  /// Whether the column holds NULL.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// 0 for NULL.
  package func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// nil for NULL.
  package func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  /// Empty for NULL. A text may hold NUL.
  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// nil for NULL.
  package func optionalText(_ column: Int32) -> String? {
    isNull(column) ? nil : text(column)
  }

  /// Empty for NULL.
  package func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// nil for NULL.
  package func optionalBlob(_ column: Int32) -> [UInt8]? {
    isNull(column) ? nil : blob(column)
  }
}
