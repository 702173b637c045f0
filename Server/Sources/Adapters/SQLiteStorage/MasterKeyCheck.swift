import Cryptography
import PabalPrimitives
import SQLiteDriver
import Storage

/// Whether a master key is the one that the data was sealed under: a value derived from it stands beside the data.
enum MasterKeyCheck {
  /// `nil` for a file without a schema.
  ///
  /// - Throws: `wrongMasterKey`, `newerSchema`.
  static func keys(for masterKey: [UInt8], in connection: SQLiteConnection) throws -> StorageKeys? {
    let version = try connection.schemaVersion()
    guard version > 0 else { return nil }
    if let newest = Schema.migrations.last?.version, version > newest {
      throw StorageError(
        .newerSchema,
        """
        The data has schema \(version), this program knows \(newest) at most. Start the newer program, or give it \
        another data folder.
        """)
    }
    guard let salt = try value(of: "salt", in: connection) else { return nil }
    let keys = try StorageKeys(masterKey: masterKey, salt: salt)
    guard try value(of: "check", in: connection) == keys.checkValue else {
      throw StorageError(
        .wrongMasterKey,
        """
        This master key is not the one that the data was sealed under. Put the right master.key back; nothing was \
        changed.
        """
      )
    }
    return keys
  }

  /// As `keys`; a new database gets its salt and check value.
  static func keysMakingSalt(for masterKey: [UInt8], in connection: SQLiteConnection) throws -> StorageKeys {
    if let keys = try keys(for: masterKey, in: connection) { return keys }
    let salt = try SecureRandom.bytes(32)
    let keys = try StorageKeys(masterKey: masterKey, salt: salt)
    try connection.transaction {
      try connection.run("INSERT INTO meta (key, value) VALUES ('salt', ?)", .blob(salt))
      try connection.run("INSERT INTO meta (key, value) VALUES ('check', ?)", .blob(keys.checkValue))
    }
    return keys
  }

  private static func value(of key: String, in connection: SQLiteConnection) throws -> [UInt8]? {
    try connection.first("SELECT value FROM meta WHERE key = ?", .text(key)) { $0.blob(0) }
  }
}
