package import EventLoop
package import PabalPrimitives

/// An HTTP proxy that is asked for a tunnel with CONNECT (RFC 9110 section 9.3.6). It is spoken to in the clear; TLS to
/// the provider runs inside the tunnel.
package struct ProxyEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// Basic authentication (RFC 7617).
  package struct Credentials: Hashable, Sendable, Unprintable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  package var endpoint: Endpoint
  package var credentials: Credentials?

  package init(endpoint: Endpoint, credentials: Credentials? = nil) {
    self.endpoint = endpoint
    self.credentials = credentials
  }

  /// Host and port: the credentials are for nobody to read.
  package var description: String { endpoint.description }

  /// Reads `http://[user:password@]host[:port][/]`, user and password percent-encoded (RFC 3986 section 3.2.1). The
  /// port is 8080 if none is given; `http://` may be left out.
  ///
  /// - Throws: `proxy_invalid`.
  package init(parsing text: String) throws(ProxyTextError) {
    var rest = text[...]
    if let scheme = rest.firstRange(of: "://") {
      guard rest[..<scheme.lowerBound].lowercased() == "http" else {
        throw ProxyTextError("A proxy is spoken to in the clear: write http://host:port.")
      }
      rest = rest[scheme.upperBound...]
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    if let at = rest.lastIndex(of: "@") {
      let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = Self.decode(parts[0]), let password = Self.decode(parts.count == 2 ? parts[1] : ""),
        !user.isEmpty, !user.contains(":")
      else { throw ProxyTextError("The proxy's user and password must be percent-encoded, as in us%40er:pass.") }
      credentials = Credentials(user: user, password: password)
      rest = rest[rest.index(after: at)...]
    }
    let (host, port) = try Self.splitPort(rest)
    endpoint = Endpoint(host: String(host), port: port)
  }

  /// Where proxies listen when nobody says otherwise.
  package static let defaultPort: UInt16 = 8080

  private static func splitPort(_ text: Substring) throws(ProxyTextError) -> (Substring, UInt16) {
    var host = text
    var port: Substring?
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      let after = text[text.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else { throw wrongHost }
      if !after.isEmpty { port = after.dropFirst() }
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { throw wrongHost }
    guard let port else { return (host, defaultPort) }
    guard let number = UInt16(port), number > 0 else {
      throw ProxyTextError("The proxy's port must be a number from 1 to 65535.")
    }
    return (host, number)
  }

  private static let wrongHost = ProxyTextError("The proxy needs a host: write http://host:port.")

  /// Letters, digits, and what names and address literals have besides.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: ":"), UInt8(ascii: "%"):
      true
    default: false
    }
  }

  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// What is wrong with the text of a proxy.
package struct ProxyTextError: CodedError {
  package let message: String
  package let place: Place

  package var code: String { "proxy_invalid" }

  package init(_ message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.place = Place(file: file, line: line)
  }
}
