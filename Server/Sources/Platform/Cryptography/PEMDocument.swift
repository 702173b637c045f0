import PabalPrimitives

/// The blocks of a PEM text (RFC 7468), read as laxly about white space as section 2 asks of parsers: byte-order mark,
/// blank lines, CRLF, one long line, spaces in place of newlines and a missing final newline are all accepted.
struct PEMDocument {
  struct Block {
    /// E.g. `PRIVATE KEY`.
    let label: String
    let der: [UInt8]
    /// True for the old `Proc-Type: 4,ENCRYPTED` form inside the block.
    let isEncrypted: Bool
  }

  let blocks: [Block]

  init(_ bytes: [UInt8]) throws(CryptographyError) {
    guard !bytes.isEmpty else { throw .keyNotPEM("The key is empty") }
    let text = String(decoding: bytes, as: UTF8.self)
    var rest = Substring(text)
    var blocks: [Block] = []
    while let begin = rest.firstRange(of: "-----BEGIN ") {
      rest = rest[begin.upperBound...]
      guard let labelEnd = rest.firstRange(of: "-----") else {
        throw .keyMalformed("The BEGIN line of the PEM text has no end")
      }
      let label = String(rest[..<labelEnd.lowerBound])
      rest = rest[labelEnd.upperBound...]
      guard let end = rest.firstRange(of: "-----END \(label)-----") else {
        throw .keyMalformed("The PEM text has no line -----END \(label)-----")
      }
      blocks.append(try Self.block(label: label, body: rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    guard !blocks.isEmpty else {
      throw .keyNotPEM(bytes[0] == 0x30 ? "The key is binary (DER or .p12), not PEM" : "The key is not PEM")
    }
    self.blocks = blocks
  }

  private static func block(label: String, body: Substring) throws(CryptographyError) -> Block {
    guard !body.contains(":") else {
      let isEncrypted = body.firstRange(of: "ENCRYPTED") != nil
      return Block(label: label, der: [], isEncrypted: isEncrypted)
    }
    let base64 = String(body.filter { !$0.isWhitespace })
    guard let der = Base64.decode(base64), !der.isEmpty else {
      throw .keyMalformed("The body of the PEM block \(label) is not base64")
    }
    return Block(label: label, der: der, isEncrypted: false)
  }
}

extension Substring {
  /// The standard library's `firstRange(of:)` would need the string-processing module.
  fileprivate func firstRange(of needle: String) -> Range<Index>? {
    let pattern = Array(needle.utf8)
    let bytes = utf8
    var start = bytes.startIndex
    while let candidate = bytes[start...].firstIndex(of: pattern[0]) {
      if let end = bytes.index(candidate, offsetBy: pattern.count, limitedBy: bytes.endIndex),
        bytes[candidate..<end].elementsEqual(pattern)
      {
        return candidate..<end
      }
      start = bytes.index(after: candidate)
    }
    return nil
  }
}
