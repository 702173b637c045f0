package import PabalPrimitives

/// The store could not do what was asked. Nothing of the failed call was written.
package struct StorageError: CodedError {
  package enum Code: String, Sendable {
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

  package let kind: Code
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  package init(_ kind: Code, _ message: String, cause: (any Error)? = nil, place: Place = Place()) {
    self.kind = kind
    self.message = message
    self.cause = cause
    self.place = place
  }

  package var code: String { kind.rawValue }
}
