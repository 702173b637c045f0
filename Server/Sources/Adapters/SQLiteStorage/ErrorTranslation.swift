import Cryptography
import PabalPrimitives
import SQLiteDriver
import Storage

/// Runs a call and turns what lies below into the port's error.
func translating<Value: Sendable>(
  _ body: @Sendable () async throws -> Value
) async throws(StorageError) -> Value {
  do {
    return try await body()
  } catch let error as StorageError {
    throw error
  } catch let error as SQLiteError {
    throw StorageError(error)
  } catch let error as CryptographyError {
    throw StorageError(.corrupt, "A sealed value cannot be opened; the data was changed from outside.", cause: error)
  } catch {
    throw StorageError(.corrupt, "A stored value cannot be read.", cause: error)
  }
}

extension StorageError {
  init(_ error: SQLiteError) {
    switch error.kind {
    case .full, .readOnly:
      self.init(
        .readOnly, "The disk takes no more writes. Make room in the data folder; the server goes on by itself.",
        cause: error)
    case .corrupt: self.init(.corrupt, "The database file is damaged. Restore a backup.", cause: error)
    case .closed: self.init(.closed, "The store is closed because the server is stopping.", cause: error)
    case .newerSchema: self.init(.newerSchema, error.message, cause: error)
    case .cannotOpen:
      self.init(
        .unavailable, "The database file cannot be opened. Check that the data folder exists and is yours.",
        cause: error)
    case .busy, .constraint, .inputOutput, .interrupted, .overloaded, .misuse, .other:
      self.init(.unavailable, "The store could not do this now; nothing was written. Try again.", cause: error)
    }
  }
}
