package import PabalModel

/// Device tokens as lists and flags spell them.
package enum TokenText {
  /// Nothing shorter is sent: Apple promises no length and its tokens have 32 bytes, but a few digits are what is left
  /// of a token that was cut or cleaned, and each would cost a refusal.
  package static let minimumBytes = 8

  /// Bare digits are nearly all there is, and a list is read twice: no text is made of them.
  ///
  /// - Returns: the token's bytes, `nil` for anything but an even number of hexadecimal digits.
  @inline(__always)
  static func decode(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard digits.count % 2 == 0, digits.count <= 2 * DeviceToken.maximumBytes else { return nil }
    var foreign: UInt8 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 2) { target, count in
      for index in 0..<(digits.count / 2) {
        let high = digits[2 * index]
        let low = digits[2 * index + 1]
        foreign |= isForeign(high) | isForeign(low)
        target[index] = value(high) << 4 | value(low)
      }
      count = digits.count / 2
    }
    return foreign == 0 ? bytes : nil
  }

  /// Without a branch: which digit comes next cannot be predicted.
  @inline(__always)
  private static func value(_ digit: UInt8) -> UInt8 { (digit & 0x0F) &+ (digit >> 6) &* 9 }

  @inline(__always)
  private static func isForeign(_ byte: UInt8) -> UInt8 {
    (byte &- 0x30 < 10 ? 0 : 1) & ((byte | 0x20) &- 0x61 < 6 ? 0 : 1)
  }

  /// - Throws: why `bytes` are no token, in words for their sender.
  package static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(DeviceTokenError) -> DeviceToken {
    let token: DeviceToken
    if bytes.count >= 2 * minimumBytes, let found = decode(bytes).flatMap(DeviceToken.init(bytes:)) {
      return found
    } else {
      token = try DeviceToken(parsing: String(decoding: bytes, as: UTF8.self))
    }
    guard token.bytes.count >= minimumBytes else { throw DeviceTokenError(.tooShort) }
    return token
  }

  package static func read(_ text: String) throws(DeviceTokenError) -> DeviceToken {
    let token = try DeviceToken(parsing: text)
    guard token.bytes.count >= minimumBytes else { throw DeviceTokenError(.tooShort) }
    return token
  }
}
