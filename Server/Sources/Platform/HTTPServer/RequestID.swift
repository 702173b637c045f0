import PabalPrimitives

/// `req_` and 26 characters: 48 bits of time in milliseconds, then 80 random bits, in Crockford's base32.
enum RequestID {
  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  static func make(at time: WallTime, randomness: Randomness) -> String {
    let random = randomness.fill(10)
    var bits = (0..<6).map { UInt8(truncatingIfNeeded: time.milliseconds >> (40 - 8 * $0)) }
    bits += random
    var text = Array("req_".utf8)
    var buffer: UInt32 = 0
    var held = 0
    for byte in bits {
      buffer = buffer << 8 | UInt32(byte)
      held += 8
      while held >= 5 {
        held -= 5
        text.append(alphabet[Int(buffer >> UInt32(held) & 31)])
      }
    }
    if held > 0 { text.append(alphabet[Int(buffer << UInt32(5 - held) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
