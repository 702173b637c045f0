/// Refuses what the library lets through although RFC 9110 and RFC 9112 forbid it. Pure: bytes in, refusal out.
///
/// Each rule stands against a measured behaviour of libmicrohttpd 0.9.75; the corpus test has a request for each.
struct RequestGuard: Sendable {
  /// Headers that mean one thing; two of them are how two servers come to read two different requests.
  static let singleValued: Set<String> = [
    "authorization", "content-encoding", "content-length", "content-type", "expect", "host", "idempotency-key",
    "if-match", "if-none-match", "last-event-id", "origin", "pabal-install-secret", "pabal-user-token", "traceparent",
    "transfer-encoding", "user-agent",
  ]

  let limits: WebServerLimits
  let allowedHosts: Set<String>?

  init(limits: WebServerLimits, allowedHosts: [String]?) {
    self.limits = limits
    self.allowedHosts = allowedHosts.map { Set($0.map { $0.lowercased() }) }
  }

  func check(_ head: RequestHead) throws(APIError) -> CheckedHead {
    guard head.version == "HTTP/1.1" || head.version == "HTTP/1.0" else {
      throw APIError(505, .invalidRequest, "version_unsupported", "This server speaks HTTP/1.1 and HTTP/1.0.")
    }
    let headers = try fields(head.headers)
    try checkRepeats(headers)
    let length = try contentLength(headers, version: head.version)
    guard let method = HTTPMethod(rawValue: head.method) else {
      throw APIError(
        501, .invalidRequest, "method_unknown",
        "This server knows \(HTTPMethod.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    try checkHost(headers, version: head.version)
    let target = try RequestTarget(parsing: head.target, queryArguments: limits.queryArguments)
    if let expect = value("expect", headers), expect.lowercased() != "100-continue" {
      throw APIError(417, .invalidRequest, "expectation_failed", "The only expectation met here is 100-continue.")
    }
    if let coding = value("content-encoding", headers), coding.lowercased() != "identity" {
      throw APIError(415, .invalidRequest, "content_encoding", "Send the body without a content coding.")
    }
    return CheckedHead(method: method, target: target, headers: headers, contentLength: length)
  }

  /// RFC 9110 section 5: names are tokens, values have no control characters.
  private func fields(_ headers: [RequestHead.Header]) throws(APIError) -> [HTTPField] {
    guard headers.count <= limits.headers else {
      throw APIError(431, .invalidRequest, "headers_too_many", "A request has at most \(limits.headers) headers here.")
    }
    var fields: [HTTPField] = []
    fields.reserveCapacity(headers.count)
    for header in headers {
      guard header.isOneLine else {
        throw Self.malformed("header_folded", "A header goes on in the next line (RFC 9112 section 5.2 forbids it).")
      }
      guard !header.name.isEmpty, header.name.allSatisfy(Self.isToken) else {
        throw Self.malformed("header_name_invalid", "A header name may hold letters, digits and !#$%&'*+-.^_`|~ only.")
      }
      let value = Self.trimmed(header.value)
      guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw Self.malformed("header_value_invalid", "A header value holds a control character.")
      }
      guard let text = String(validating: value, as: UTF8.self) else {
        throw Self.malformed("header_value_invalid", "A header value is not UTF-8.")
      }
      fields.append(HTTPField(String(decoding: header.name, as: UTF8.self).lowercased(), text))
    }
    return fields
  }

  private func checkRepeats(_ headers: [HTTPField]) throws(APIError) {
    var seen: Set<String> = []
    for header in headers where Self.singleValued.contains(header.name) {
      guard seen.insert(header.name).inserted else {
        throw Self.malformed("header_repeated", "The header '\(header.name)' may stand once.")
      }
    }
  }

  /// RFC 9112 section 6: one framing, and one that everybody on the way reads alike.
  private func contentLength(_ headers: [HTTPField], version: String) throws(APIError) -> Int? {
    let length = value("content-length", headers)
    if let coding = value("transfer-encoding", headers) {
      guard length == nil else {
        throw Self.malformed("framing_ambiguous", "Transfer-Encoding and Content-Length cannot stand together.")
      }
      guard version == "HTTP/1.1", coding.lowercased() == "chunked" else {
        throw Self.malformed("framing_unsupported", "The only transfer coding is 'chunked', in HTTP/1.1.")
      }
      return nil
    }
    guard let length else { return nil }
    guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bytes = Int(length) else {
      throw Self.malformed("framing_invalid", "Content-Length must be a number of bytes.")
    }
    return bytes
  }

  private func checkHost(_ headers: [HTTPField], version: String) throws(APIError) {
    guard let host = value("host", headers) else {
      guard version == "HTTP/1.0", allowedHosts == nil else {
        throw Self.malformed("host_missing", "A request needs a Host header.")
      }
      return
    }
    guard let allowedHosts else { return }
    guard allowedHosts.contains(Self.withoutPort(host).lowercased()) else {
      throw APIError(
        421, .invalidRequest, "host_not_allowed", "This server does not answer for that Host.", parameter: "Host")
    }
  }

  private func value(_ name: String, _ headers: [HTTPField]) -> String? {
    headers.first { $0.name == name }?.value
  }

  static func withoutPort(_ host: String) -> String {
    if host.hasPrefix("["), let close = host.firstIndex(of: "]") { return String(host[...close]) }
    return host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? ""
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let rest = bytes.drop(while: isBlank)
    let end = rest.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? rest.startIndex
    return rest[..<end]
  }

  private static func malformed(_ code: String, _ message: String) -> APIError {
    APIError(400, .invalidRequest, code, message)
  }
}
