package import PabalPrimitives

/// Why a server did not start. Nothing is left running then.
package struct UpError: CodedError {
  package enum Kind: String, Sendable {
    case configuration = "up_configuration"
    /// The data folder or a file in it cannot be made, read or written.
    case dataFolder = "up_data_folder"
    /// The stand-in did not start, or its ready line cannot be used.
    case simulator = "up_simulator"
    case port = "up_port"
    case store = "up_store"
    /// Another server holds the folder but left no links to read.
    case locked = "up_locked"
  }

  package let kind: Kind
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, place: Place = Place()) {
    self.kind = kind
    self.message = message
    self.cause = cause
    self.place = place
  }

  package var code: String { kind.rawValue }
}
