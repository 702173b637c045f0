package import PabalPrimitives

/// The store could not do what was asked. Nothing of the failed call was written.
package typealias StorageError = KindError<StorageErrorKind>

/// The closed list of `StorageError`.
package enum StorageErrorKind: String, Sendable {
  /// The file system refuses writes or is full; reads go on.
  case readOnly = "store_read_only"
  case unavailable = "store_unavailable"
  case corrupt = "store_corrupt"
  /// A newer program wrote this data.
  case newerSchema = "store_schema_newer"
  case wrongMasterKey = "master_key_wrong"
  /// The call contradicts itself; the caller is at fault.
  case invalidCall = "store_call_invalid"
  case installSecretWrong = "install_secret_wrong"
  case closed = "store_closed"
}
