/// Where in the sources an error was made. Never shown to a user of the server; it is for its maintainers.
public struct Place: Sendable, Hashable {
  public let file: String
  public let line: Int

  public init(file: String = #fileID, line: Int = #line) {
    self.file = file
    self.line = line
  }
}

/// An error that a person can act on.
public protocol CodedError: Error, Sendable, CustomStringConvertible {
  /// Stable, lower case with underscores; a member of a bounded set, so that it can label a metric.
  var code: String { get }
  /// What happened and what to do about it. Holds no token, key or text of a notification.
  var message: String { get }
  var cause: (any Error)? { get }
  var place: Place { get }
}

extension CodedError {
  public var cause: (any Error)? { nil }

  public var description: String {
    guard let cause else { return "\(code): \(message)" }
    return "\(code): \(message) (cause: \(cause))"
  }
}
