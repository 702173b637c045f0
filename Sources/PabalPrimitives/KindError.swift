/// An error of which nothing but its kind matters to a program; the rest is for people.
///
/// - Parameter Fault: a closed list, named by the errors' stable codes; bounded, so that it can label a metric.
public struct KindError<Fault: RawRepresentable<String> & Hashable & Sendable>: CodedError, Equatable {
  public typealias Kind = Fault

  public let kind: Fault
  public let message: String
  public let cause: (any Error)?
  public let place: Place

  public init(
    _ kind: Fault, _ message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line
  ) {
    self.kind = kind
    self.message = message
    self.cause = cause
    place = Place(file: file, line: line)
  }

  public var code: String { kind.rawValue }

  public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }
}
