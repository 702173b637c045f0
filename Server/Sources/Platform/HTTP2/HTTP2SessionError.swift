package import PabalPrimitives

/// The session broke and cannot go on.
package struct HTTP2SessionError: CodedError {
  /// What our GOAWAY said, or would have said.
  package let errorCode: HTTP2ErrorCode
  package let message: String
  package let place: Place

  package var code: String { "http2_protocol_error" }

  package init(_ errorCode: HTTP2ErrorCode, message: String, file: String = #fileID, line: Int = #line) {
    self.errorCode = errorCode
    self.message = message
    self.place = Place(file: file, line: line)
  }
}
