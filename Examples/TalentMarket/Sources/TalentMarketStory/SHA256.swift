internal import PabalPrimitives

/// SHA-256 (FIPS 180-4), so that the story can say which file is on the phone without asking whoever sent it.
package enum SHA256 {
  /// 64 lower-case hexadecimal digits.
  package static func hex(_ message: [UInt8]) -> String {
    var state: [UInt32] = [
      0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    let padded = padding(message)
    for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<start + 64], into: &state) }
    return Hex.encode(state.flatMap(bigEndian))
  }

  /// A one bit, zeros, and the length in bits, up to a multiple of 64 bytes (section 5.1.1).
  private static func padding(_ message: [UInt8]) -> [UInt8] {
    let zeros = (119 - message.count % 64) % 64
    let bits = UInt64(message.count) * 8
    return message + [0x80] + [UInt8](repeating: 0, count: zeros)
      + bigEndian(UInt32(truncatingIfNeeded: bits >> 32)) + bigEndian(UInt32(truncatingIfNeeded: bits))
  }

  /// Section 6.2.2.
  private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (near, far) = (words[index - 15], words[index - 2])
      let first = rotate(near, 7) ^ rotate(near, 18) ^ near >> 3
      let second = rotate(far, 17) ^ rotate(far, 19) ^ far >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var work = state
    for index in 0..<64 {
      let (a, b, c, e, f, g) = (work[0], work[1], work[2], work[4], work[5], work[6])
      let choice = (e & f) ^ (~e & g)
      let one = work[7] &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ choice &+ constants[index] &+ words[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
      work = [one &+ two, a, b, c, work[3] &+ one, e, f, g]
    }
    for index in 0..<8 { state[index] &+= work[index] }
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  private static func bigEndian(_ word: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
  }

  /// Section 4.2.2.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
}
