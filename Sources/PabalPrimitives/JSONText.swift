/// String contents between JSON's spelling and Swift's.
enum JSONText {
  /// The text of a scanned string, quotes included in `quoted`.
  static func unescape(_ quoted: ArraySlice<UInt8>) -> String {
    let inner = quoted.dropFirst().dropLast()
    guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
    var text: [UInt8] = []
    text.reserveCapacity(inner.count)
    var index = inner.startIndex
    while index < inner.endIndex {
      guard inner[index] == UInt8(ascii: "\\") else {
        text.append(inner[index])
        index += 1
        continue
      }
      let escape = inner[index + 1]
      index += 2
      switch escape {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = unit(inner, at: index)
        index += 4
        if (0xD800...0xDBFF).contains(scalar) {
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (unit(inner, at: index + 2) - 0xDC00)
          index += 6
        }
        if let character = Unicode.Scalar(scalar) { text.append(contentsOf: Array(String(character).utf8)) }
      default: text.append(escape)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func unit(_ bytes: ArraySlice<UInt8>, at index: Int) -> UInt32 {
    bytes[index..<(index + 4)].reduce(0) { $0 << 4 | UInt32(Hex.value(of: $1) ?? 0) }
  }

  /// Appends `text` in quotes: raw UTF-8, escapes only for `"`, `\` and control characters, so that what is counted
  /// is what is sent and `/`, `<` and Hangul keep their length.
  static func append(quoting text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x08: bytes.append(contentsOf: "\\b".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0C: bytes.append(contentsOf: "\\f".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x00..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Hex.digit(byte >> 4))
        bytes.append(Hex.digit(byte & 15))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
