public import PabalPrimitives

/// A few small secrets that outlive the app's folder.
///
/// "Cannot be read yet" (the device has not been unlocked since it started) must be thrown, never answered as `nil`:
/// an install that takes a locked keychain for an empty one becomes a second device.
public struct PabalKeychain: Sendable {
  public var read: @Sendable (_ name: String) throws(PabalKeychainError) -> [UInt8]?
  public var write: @Sendable (_ name: String, _ value: [UInt8]) throws(PabalKeychainError) -> Void

  public init(
    read: @escaping @Sendable (String) throws(PabalKeychainError) -> [UInt8]?,
    write: @escaping @Sendable (String, [UInt8]) throws(PabalKeychainError) -> Void
  ) {
    self.read = read
    self.write = write
  }
}

public struct PabalKeychainError: CodedError {
  public enum Kind: String, Sendable {
    /// Try again later; nothing is known about the content.
    case lockedYet
    case refused
  }

  public let kind: Kind
  /// The system's status, 0 when there is none.
  public let status: Int32
  public let place: Place

  public init(_ kind: Kind, status: Int32 = 0, file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.status = status
    self.place = Place(file: file, line: line)
  }

  public var code: String { kind == .lockedYet ? "keychain_locked" : "keychain_refused" }

  public var message: String {
    switch kind {
    case .lockedYet: "The keychain cannot be read before the device was unlocked once; registration waits for that."
    case .refused: "The keychain refused (status \(status)). Check the app's keychain access group."
    }
  }
}
