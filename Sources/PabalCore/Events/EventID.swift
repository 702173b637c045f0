public import PabalPrimitives

/// Names an event by what happened, so that a repeated report is recognised as one.
public enum EventID {
  /// 32 hexadecimal digits, the same for the same three values on every device and in every version.
  ///
  /// - Parameters:
  ///   - presentedAt: when the system delivered the notification; `nil` for an event before that (`received`).
  ///   - action: what happened, such as `default` or a button's identifier.
  public static func make(delivery: String, presentedAt: WallTime?, action: String) -> String {
    let date = presentedAt.map { String($0.milliseconds) } ?? "-"
    let text = "\(delivery)\n\(date)\n\(action)"
    return StableHash.hex(Array(text.utf8))
  }
}

/// FNV-1a on two lanes of 64 bits, each finished by the mixer of MurmurHash3. Stable for ever; not for secrets.
enum StableHash {
  static func hex(_ bytes: [UInt8]) -> String {
    let first = lane(bytes, basis: 0xCBF2_9CE4_8422_2325)
    let second = lane(bytes, basis: 0x6C62_272E_07BB_0142)
    return Hex.encode(bigEndian(first) + bigEndian(second))
  }

  private static func lane(_ bytes: [UInt8], basis: UInt64) -> UInt64 {
    var hash = basis
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ (hash >> 33)
  }

  private static func bigEndian(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
  }
}
