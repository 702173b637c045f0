/// The head of a request as the library gave it, before any guard.
struct RequestHead: Sendable {
  struct Header: Sendable {
    var name: [UInt8]
    var value: [UInt8]
    /// False when name and value were not one line in the library's buffer: the header was folded.
    var isOneLine = true
  }

  var method: String
  var version: String
  var target: [UInt8]
  var headers: [Header]
}

/// A head that has passed the guards.
struct CheckedHead: Sendable {
  let method: HTTPMethod
  let target: RequestTarget
  let headers: [HTTPField]
  /// nil when there is no body, or a chunked one.
  let contentLength: Int?

  func header(_ name: String) -> String? {
    headers.first { $0.name == name }?.value
  }
}
