/// Hexadecimal text: lower case out, either case in.
public enum Hex {
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: digits(of: Array(bytes)), as: UTF8.self)
  }

  /// The ASCII digits after `start`, for paths that are written as bytes. Not generic, because generics are not
  /// specialised across modules and this runs once for each push.
  public static func digits(of bytes: [UInt8], after start: [UInt8] = []) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: start.count + 2 * bytes.count) { text, count in
      var end = 0
      for byte in start {
        text[end] = byte
        end += 1
      }
      for byte in bytes {
        text[end] = digit(byte >> 4)
        text[end + 1] = digit(byte & 15)
        end += 2
      }
      count = end
    }
  }

  /// `nil` for an odd number of digits or any other character.
  public static func decode(_ text: String) -> [UInt8]? {
    decode(text.utf8)
  }

  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    decode(digits: Array(text))
  }

  /// As `decode`; not generic, for lists of tokens.
  public static func decode(digits text: [UInt8]) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var isHexadecimal = true
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { bytes, count in
      for index in stride(from: 0, to: text.count, by: 2) {
        guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else {
          isHexadecimal = false
          return
        }
        bytes[count] = high << 4 | low
        count += 1
      }
    }
    return isHexadecimal ? bytes : nil
  }

  /// The eight ASCII digits of four bytes, the first one highest in both: one step instead of eight, for what every
  /// push carries.
  @inlinable
  public static func eightDigits(of word: UInt32) -> UInt64 {
    var digits = UInt64(word)
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
    digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
    // 1 in each byte whose digit is a letter: those lie 0x27 further on.
    let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
  }

  /// Writes the digits of bytes from `place`, into memory that has room for two each.
  ///
  /// - Returns: where they end.
  public static func write(_ bytes: [UInt8], into text: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
    bytes.withUnsafeBytes { bytes in
      var (next, end) = (0, place)
      while next + 4 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: next, as: UInt32.self)
        text.storeBytes(of: eightDigits(of: UInt32(bigEndian: word)).bigEndian, toByteOffset: end, as: UInt64.self)
        next += 4
        end += 8
      }
      for byte in bytes[next...] {
        text[end] = digit(byte >> 4)
        text[end + 1] = digit(byte & 15)
        end += 2
      }
      return end
    }
  }

  /// The ASCII digit for 0…15.
  public static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x57 + value
  }

  /// The value of an ASCII digit, either case.
  public static func value(of character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x41...0x46: character - 0x37
    case 0x61...0x66: character - 0x57
    default: nil
    }
  }
}
