internal import COpenSSL
import PabalPrimitives

/// A private key as people hand it over, brought back to DER.
///
/// PEM and DER; base64 without its BEGIN and END lines; the whole file in base64 once more, as secrets of build systems
/// are; a JSON string; quotes around it; `\n` as two characters; CRLF, blank lines, a byte-order mark, UTF-16 from
/// PowerShell.
struct PastedKey {
  let der: [UInt8]

  /// Longest text that is looked at; a signing key has some 250 bytes.
  private static let maximumBytes = 64 * 1024
  /// A file in base64 in base64: nobody goes further.
  private static let maximumWrappings = 4

  /// - Throws: `key_not_pem`, `key_encrypted`, `key_wrong_type` or `key_malformed`, naming what was found.
  init(_ bytes: [UInt8]) throws(CryptographyError) {
    der = try Self.unwrap(bytes, depth: 0)
  }

  private static func unwrap(_ bytes: [UInt8], depth: Int) throws(CryptographyError) -> [UInt8] {
    guard bytes.count <= maximumBytes, depth < maximumWrappings else {
      throw .keyNotPEM("The file has \(bytes.count) bytes, far more than any key")
    }
    if let text = utf16Text(bytes) { return try unwrap(Array(text.utf8), depth: depth + 1) }
    var source = bytes[...]
    if source.starts(with: [0xEF, 0xBB, 0xBF]) { source = source.dropFirst(3) }
    // A SEQUENCE's tag is the digit 0 in ASCII; only DER also has the length right.
    var reader = DERReader(source)
    if let element = reader.next(), element.isSequence, reader.isAtEnd { return try readable(Array(source)) }
    guard let text = String(validating: source, as: UTF8.self) else {
      throw .keyNotPEM("The file is binary and no key")
    }
    let plain = try withoutWrapping(text)
    guard !plain.isEmpty else { throw .keyNotPEM("The key is empty") }
    if plain.contains("-----BEGIN ") { return try pem(plain) }
    return try bare(plain, depth: depth)
  }

  // MARK: Text

  /// Little-endian or big-endian UTF-16 with its mark, as Windows PowerShell redirects.
  private static func utf16Text(_ bytes: [UInt8]) -> String? {
    let isLittle = bytes.starts(with: [0xFF, 0xFE])
    guard isLittle || bytes.starts(with: [0xFE, 0xFF]), bytes.count % 2 == 0 else { return nil }
    let units = stride(from: 2, to: bytes.count, by: 2).map { index in
      isLittle
        ? UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8 : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
    return String(validating: units, as: UTF16.self)
  }

  private static func withoutWrapping(_ text: String) throws(CryptographyError) -> String {
    var plain = trimmed(text[...])
    if plain.first == "{" { throw .keyNotPEM("This is a JSON object, not a key alone") }
    if plain.first == "\"", let json = jsonString(plain) { plain = trimmed(json[...]) }
    while let first = plain.first, "\"'`".contains(first) { plain = trimmed(plain.dropFirst()) }
    while let last = plain.last, "\"'`,;".contains(last) { plain = trimmed(plain.dropLast()) }
    // In a variable or a YAML file the line ends are often two characters each.
    return plain.replacing([(#"\r"#, "\n"), (#"\n"#, "\n"), (#"\t"#, " "), (#"\/"#, "/")])
  }

  private static func trimmed(_ text: Substring) -> String {
    var rest = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    while let last = rest.last, last.isWhitespace || last == "\u{0}" { rest.removeLast() }
    return String(rest)
  }

  private static func jsonString(_ text: String) -> String? {
    do {
      return try JSONSlice(parsing: Array(text.utf8)).string
    } catch {
      // Quotes around a text that spans lines: no JSON, and the quotes are taken off by themselves.
      return nil
    }
  }

  private static func pem(_ text: String) throws(CryptographyError) -> [UInt8] {
    let document = try PEMDocument(Array(text.utf8))
    let isEncrypted = { (block: PEMDocument.Block) in block.isEncrypted || block.label == "ENCRYPTED PRIVATE KEY" }
    if document.blocks.contains(where: isEncrypted) { throw .keyEncrypted() }
    guard let block = document.blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }),
      block.label != "OPENSSH PRIVATE KEY"
    else { throw .keyWrongType(PEMLabel.words(for: document.blocks[0].label)) }
    return block.der
  }

  /// A text without BEGIN and END.
  private static func bare(_ text: String, depth: Int) throws(CryptographyError) -> [UInt8] {
    if let name = knownText(text) { throw .keyNotPEM(name) }
    let digits = String(text.filter { !$0.isWhitespace })
    guard let decoded = Base64.decode(digits) ?? Base64URL.decode(digits), !decoded.isEmpty else {
      throw .keyNotPEM("The key is not PEM")
    }
    if decoded.first == DERTag.sequence { return try readable(decoded) }
    guard String(decoding: decoded, as: UTF8.self).contains("-----BEGIN ") else {
      throw .keyNotPEM("The key is base64 of something that is no key")
    }
    return try unwrap(decoded, depth: depth + 1)
  }

  private static func knownText(_ text: String) -> String? {
    let start = text.prefix(64).lowercased()
    if start.hasPrefix("eyj") { return "This is a provider token (JWT), not the key that signs it" }
    if start.hasPrefix("<") { return "This is a web page or XML; the download needs a session that is signed in" }
    if start.hasPrefix("ssh-") || start.hasPrefix("ecdsa-sha2-") { return "This is an SSH public key" }
    if !text.contains(where: \.isNewline), text.hasSuffix(".p8") || text.hasSuffix(".pem") || text.hasSuffix(".p12") {
      return "This is the name of a file, not what is in it"
    }
    if start.contains("begin") && start.contains("key") {
      return "The dashes of the BEGIN line were changed, as word processors do"
    }
    return nil
  }

  // MARK: DER

  /// Says what a binary file is when it is no private key.
  private static func readable(_ der: [UInt8]) throws(CryptographyError) -> [UInt8] {
    if parses(der, d2i_AutoPrivateKey, EVP_PKEY_free) { return der }
    if parses(der, d2i_X509, X509_free) { throw .keyWrongType("a certificate") }
    if parses(der, d2i_PUBKEY, EVP_PKEY_free) { throw .keyWrongType("a public key") }
    if parses(der, d2i_PKCS12, PKCS12_free) {
      throw .keyWrongType("a .p12 with a certificate, which is another kind of credential (give it as --p12)")
    }
    if parses(der, d2i_X509_SIG, X509_SIG_free) { throw .keyEncrypted() }
    throw .keyMalformed("The file is binary (DER) and holds no readable key")
  }

  private static func parses(
    _ der: [UInt8],
    _ read: (
      UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
    ) -> OpaquePointer?,
    _ free: (OpaquePointer?) -> Void
  ) -> Bool {
    let parsed = der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return read(nil, &cursor, buffer.count)
    }
    _ = OpenSSLErrorStack.drained()
    free(parsed)
    return parsed != nil
  }
}

extension String {
  /// Each pair in turn.
  fileprivate func replacing(_ pairs: [(String, String)]) -> String {
    var bytes = Array(utf8)
    for (old, new) in pairs {
      let pattern = Array(old.utf8)
      var result: [UInt8] = []
      result.reserveCapacity(bytes.count)
      var index = 0
      while index < bytes.count {
        if bytes[index...].starts(with: pattern) {
          result += new.utf8
          index += pattern.count
        } else {
          result.append(bytes[index])
          index += 1
        }
      }
      bytes = result
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
