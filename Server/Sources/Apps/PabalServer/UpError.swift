package import PabalPrimitives

/// Why a server did not start. Nothing is left running then.
package typealias UpError = KindError<UpErrorKind>

/// The closed list of `UpError`.
package enum UpErrorKind: String, Sendable {
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
