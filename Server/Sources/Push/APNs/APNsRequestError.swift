package import PabalPrimitives

/// A request that APNs would refuse, or that would not do what its sender wants; found before anything is sent.
package struct APNsRequestError: CodedError, Equatable {
  package let code: String
  package let message: String
  package let place: Place

  package init(code: String, message: String, file: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.place = Place(file: file, line: line)
  }

  package static func == (left: APNsRequestError, right: APNsRequestError) -> Bool {
    left.code == right.code && left.message == right.message
  }
}

extension APNsRequestError {
  static func payload(_ message: String, file: String = #fileID, line: Int = #line) -> APNsRequestError {
    APNsRequestError(code: "payload_invalid", message: message, file: file, line: line)
  }

  static func header(_ message: String, file: String = #fileID, line: Int = #line) -> APNsRequestError {
    APNsRequestError(code: "header_invalid", message: message, file: file, line: line)
  }
}
