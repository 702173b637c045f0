#if !os(iOS)
public import PabalPrimitives

/// Something that the scripted user or the phone could not do.
public struct PhoneError: CodedError {
  public enum Kind: Sendable, Equatable {
    /// There is no such notification on the screen.
    case noSuchCard
    /// The notification has no such button.
    case noSuchAction
    case notInstalled
    case notRunning
    /// The stand-in refused, or did not understand, a call of the device link.
    case linkFailed
  }

  public let kind: Kind
  public let message: String
  public let cause: (any Error)?
  public let place: Place

  init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.message = message
    self.cause = cause
    self.place = Place(file: file, line: line)
  }

  public var code: String {
    switch kind {
    case .noSuchCard: "phone_no_such_card"
    case .noSuchAction: "phone_no_such_action"
    case .notInstalled: "phone_not_installed"
    case .notRunning: "phone_not_running"
    case .linkFailed: "phone_link_failed"
    }
  }
}
#endif
