package import PabalPrimitives

/// Why a stand-in did not start.
package struct StandInError: CodedError {
  package enum Kind: String, Sendable {
    /// The data folder or a file in it cannot be made, read or written.
    case dataFolder = "simulator_data"
    /// A key or certificate of the data folder is not what the stand-in wrote.
    case credentials = "simulator_credentials"
    /// A port cannot be had.
    case listen = "simulator_listen"
    case configuration = "simulator_configuration"
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
