package import PabalPrimitives

/// Why a stand-in did not start.
package typealias StandInError = KindError<StandInErrorKind>

/// The closed list of `StandInError`.
package enum StandInErrorKind: String, Sendable {
  /// The data folder or a file in it cannot be made, read or written.
  case dataFolder = "simulator_data"
  /// A key or certificate of the data folder is not what the stand-in wrote.
  case credentials = "simulator_credentials"
  /// A port cannot be had.
  case listen = "simulator_listen"
  case configuration = "simulator_configuration"
}
