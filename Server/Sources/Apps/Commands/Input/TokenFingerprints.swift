/// Which tokens were seen, by keyed 64-bit fingerprints in one table that is allocated once.
///
/// Eight bytes a token at a load of at most 0.6. Two tokens share a fingerprint with a chance of n²/2⁶⁵: one in a
/// million for five million tokens. The key is drawn by the process, so that nobody can prepare tokens that collide.
package struct TokenFingerprints: Sendable {
  /// Longer lists are not counted: the table would take more than the rest of the program.
  package static let maximumTokens = 8_000_000

  private var table: [UInt64]

  /// - Parameter count: tokens at most.
  package init(count: Int) {
    table = [UInt64](repeating: 0, count: max(16, (count * 5 + 2) / 3))
  }

  /// Bytes of the table.
  package var byteCount: Int { table.count * 8 }

  /// - Returns: whether the token is new.
  package mutating func insert(_ token: [UInt8]) -> Bool {
    var hasher = Hasher()
    token.withUnsafeBytes { hasher.combine(bytes: $0) }
    return insert(fingerprint: UInt64(bitPattern: Int64(hasher.finalize())))
  }

  private mutating func insert(fingerprint: UInt64) -> Bool {
    // Zero is an empty place.
    let fingerprint = max(fingerprint, 1)
    var place = Int(fingerprint.multipliedFullWidth(by: UInt64(table.count)).high)
    while table[place] != 0 {
      if table[place] == fingerprint { return false }
      place += 1
      if place == table.count { place = 0 }
    }
    table[place] = fingerprint
    return true
  }
}
