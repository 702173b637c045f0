/// `host`, `host:port` or `[ipv6]:port` of a URL.
struct URLAuthority: Equatable {
  let host: String
  let port: UInt16

  /// `nil` for anything else, user names and paths included.
  init?(_ text: Substring, defaultPort: UInt16) {
    var host = text
    var port: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    let isPlain = host.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard !host.isEmpty, isPlain else { return nil }
    guard let port else {
      self.host = String(host)
      self.port = defaultPort
      return
    }
    guard let number = UInt16(port), number > 0 else { return nil }
    self.host = String(host)
    self.port = number
  }
}
