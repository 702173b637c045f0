/// 128 bits as text: Crockford's base32 behind a prefix, or a UUID.
package struct OpaqueID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Parameter bytes: 16 of them, most significant first.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == 16, "an opaque id has 128 bits")
    high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }

  package var bytes: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
  }

  /// `prefix` and 26 digits.
  package func text(prefix: String) -> String {
    var digits: [UInt8] = []
    for index in (0..<26).reversed() {
      digits.append(Self.alphabet[Int(truncatingIfNeeded: shifted(by: 5 * index) & 31)])
    }
    return prefix + String(decoding: digits, as: UTF8.self)
  }

  /// `nil` for another prefix, length or alphabet.
  package init?(text: String, prefix: String) {
    guard text.hasPrefix(prefix) else { return nil }
    let digits = text.utf8.dropFirst(prefix.utf8.count)
    guard digits.count == 26 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (position, character) in digits.enumerated() {
      guard let value = Self.alphabet.firstIndex(of: character) else { return nil }
      if position == 0, value > 7 { return nil }
      high = high << 5 | low >> 59
      low = low << 5 | UInt64(value)
    }
    self.init(high: high, low: low)
  }

  /// Lower-case canonical UUID, version 8 (RFC 9562 section 5.8); six bits give way to version and variant.
  package var uuid: String {
    var bytes = bytes
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let digits = String(byte, radix: 16)
      text += digits.count == 1 ? "0" + digits : digits
    }
    return text
  }

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  private func shifted(by count: Int) -> UInt64 {
    count >= 64 ? high >> UInt64(count - 64) : low >> UInt64(count) | (count == 0 ? 0 : high << UInt64(64 - count))
  }
}

extension OpaqueID {
  /// 48 bits of time, so that ids sort by it, and 80 bits of chance.
  ///
  /// - Parameter chance: 10 bytes.
  package static func timeOrdered(milliseconds: Int64, chance: [UInt8]) -> OpaqueID {
    let stamp = UInt64(clamping: milliseconds)
    return OpaqueID(bytes: (0..<6).map { UInt8(truncatingIfNeeded: stamp >> UInt64(40 - 8 * $0)) } + chance.prefix(10))
  }
}
