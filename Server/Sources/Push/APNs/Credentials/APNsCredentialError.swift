package import PabalPrimitives

/// A credential that cannot be used, or not for this; found when it is loaded or before anything is sent.
package struct APNsCredentialError: CodedError, Equatable {
  package let code: String
  package let message: String
  package let cause: (any Error)?
  package let place: Place

  package init(code: String, message: String, cause: (any Error)? = nil, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = Place(file: file, line: line)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.code == right.code && left.message == right.message
  }
}
