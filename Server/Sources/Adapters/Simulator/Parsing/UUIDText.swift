/// The canonical text form of a UUID: 8-4-4-4-12 hex digits (RFC 9562 section 4).
enum UUIDText {
  /// Either case is taken, as APNs is said to echo what it accepts.
  static func isCanonical(_ text: String) -> Bool {
    var index = 0
    for byte in text.utf8 {
      switch index {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
      default: guard hexValue(byte) != nil else { return false }
      }
      index += 1
    }
    return index == 36
  }

  /// A random UUID (version 4) from 128 bits, in lower case.
  static func make(_ high: UInt64, _ low: UInt64) -> String {
    let high = high & ~0xF000 | 0x4000
    let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    return String(unsafeUninitializedCapacity: 36) { text in
      var next = 0
      for digit in 0..<32 {
        if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
          text[next] = UInt8(ascii: "-")
          next += 1
        }
        let half = digit < 16 ? high : low
        let value = UInt8(truncatingIfNeeded: half >> UInt64(60 - (digit & 15) * 4)) & 15
        text[next] = value < 10 ? 0x30 + value : 0x61 + value - 10
        next += 1
      }
      return next
    }
  }
}
