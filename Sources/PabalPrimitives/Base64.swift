/// Base64 with `+`, `/` and padding (RFC 4648 section 4).
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String {
    Base64Alphabet.standard.encode(bytes, padded: true)
  }

  /// Padding may be missing; white space, foreign characters and stray bits in the last group are refused.
  public static func decode(_ text: String) -> [UInt8]? {
    Base64Alphabet.standard.decode(text)
  }
}

/// Base64 with `-` and `_`, without padding (RFC 4648 section 5, as RFC 7515 uses it).
public enum Base64URL {
  public static func encode(_ bytes: [UInt8]) -> String {
    Base64Alphabet.url.encode(bytes, padded: false)
  }

  /// Padding may be present; white space, foreign characters and stray bits in the last group are refused.
  public static func decode(_ text: String) -> [UInt8]? {
    Base64Alphabet.url.decode(text)
  }
}

private struct Base64Alphabet {
  let characters: [UInt8]
  let values: [UInt8]

  static let standard = Base64Alphabet(last: "+/")
  static let url = Base64Alphabet(last: "-_")

  init(last: String) {
    let text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last
    characters = Array(text.utf8)
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
    self.values = values
  }

  func encode(_ bytes: [UInt8], padded: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word: UInt32 = 0
      for index in 0..<3 { word = word << 8 | (index < group.count ? UInt32(group[start + index]) : 0) }
      for index in 0..<4 {
        if index <= group.count {
          text.append(characters[Int(word >> UInt32(18 - 6 * index)) & 63])
        } else if padded {
          text.append(0x3D)
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  func decode(_ text: String) -> [UInt8]? {
    var digits = Array(text.utf8)
    let padding = digits.reversed().prefix { $0 == 0x3D }.count
    guard padding == 0 || (padding <= 2 && digits.count % 4 == 0) else { return nil }
    digits.removeLast(padding)
    guard digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits: UInt32 = 0
    for digit in digits {
      let value = values[Int(digit)]
      guard value < 64 else { return nil }
      word = word << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> bits))
      }
    }
    guard word & ((1 << bits) - 1) == 0 else { return nil }
    return bytes
  }
}
