package import PabalPrimitives

/// Input that a command cannot work with; the exit code is `ExitCode.usage`.
package struct UsageError: CodedError, Equatable {
  package let code: String
  package let message: String
  package let place: Place

  package init(_ message: String, code: String = "usage", file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.place = Place(file: file, line: line)
  }

  package static func == (left: UsageError, right: UsageError) -> Bool {
    left.code == right.code && left.message == right.message
  }
}
