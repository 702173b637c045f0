internal import CSQLite
package import PabalPrimitives

/// What SQLite answered. Holds SQLite's own words, which name tables and columns but never a bound value.
package struct SQLiteError: CodedError {
  /// The kinds that callers treat differently.
  package enum Kind: String, Sendable {
    case busy = "sqlite_busy"
    case full = "sqlite_full"
    case readOnly = "sqlite_read_only"
    case corrupt = "sqlite_corrupt"
    case constraint = "sqlite_constraint"
    case inputOutput = "sqlite_io"
    case cannotOpen = "sqlite_cannot_open"
    case interrupted = "sqlite_read_too_long"
    /// The queue in front of a thread is full.
    case overloaded = "sqlite_overloaded"
    case closed = "sqlite_closed"
    case misuse = "sqlite_misuse"
    case newerSchema = "sqlite_schema_newer"
    case other = "sqlite_error"
  }

  package let kind: Kind
  /// SQLite's extended result code; 0 when the error is ours.
  package let resultCode: Int32
  package let message: String
  package let place: Place

  package init(_ kind: Kind, _ message: String, resultCode: Int32 = 0, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.message = message
    self.resultCode = resultCode
    self.place = Place(file: file, line: line)
  }

  package var code: String { kind.rawValue }

  /// The one place where a status of SQLite becomes our error.
  init(status: Int32, connection: OpaquePointer?, doing action: String, file: String = #fileID, line: Int = #line) {
    let words = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
    let detail = words.map { String(cString: $0) } ?? "no message"
    let extended = connection.map { sqlite3_extended_errcode($0) } ?? status
    self.init(
      Self.kind(of: status & 0xFF), "SQLite could not \(action): \(detail).", resultCode: extended, file: file,
      line: line)
  }

  private static func kind(of status: Int32) -> Kind {
    switch status {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_FULL: .full
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_IOERR: .inputOutput
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_INTERRUPT: .interrupted
    case SQLITE_MISUSE, SQLITE_RANGE: .misuse
    default: .other
    }
  }
}
