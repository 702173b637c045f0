package import PabalPrimitives

/// Value of `apns-id`: a UUID, on the wire in lower case, 8-4-4-4-12.
package struct APNsID: Hashable, Sendable, CustomStringConvertible {
  /// Characters on the wire.
  package static let textBytes = 36

  /// The 16 octets, the first one highest: a number and not an array, since every push carries one through the engine.
  private let high: UInt64
  private let low: UInt64

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A version 4 UUID (RFC 9562 section 5.4).
  package init(random: Randomness) {
    self.init(octets: random.fill(16))
  }

  /// Makes a UUID out of 16 bytes that the caller computed; version and variant bits are set, the rest is kept.
  ///
  /// - Precondition: `octets` has 16 bytes from `start`.
  package init(octets: [UInt8], from start: Int = 0) {
    precondition(octets.count >= start + 16, "a UUID has 16 bytes")
    var high: UInt64 = 0
    var low: UInt64 = 0
    for octet in octets[start..<start + 16] {
      high = high << 8 | low >> 56
      low = low << 8 | UInt64(octet)
    }
    self.init(high: high & ~0xF000 | 0x4000, low: low & ~(0xC0 << 56) | 0x80 << 56)
  }

  /// Reads a UUID in either case.
  ///
  /// - Throws: `header_invalid` for anything else.
  package init(checking text: String) throws(APNsRequestError) {
    let bytes = Array(text.lowercased().utf8)
    let hyphens = [8, 13, 18, 23]
    let isUUID =
      bytes.count == 36
      && bytes.indices.allSatisfy { index in
        hyphens.contains(index) ? bytes[index] == UInt8(ascii: "-") : Hex.value(of: bytes[index]) != nil
      }
    guard isUUID else {
      throw .header("apns-id must be a UUID such as 123e4567-e89b-42d3-a456-426614174000.")
    }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for byte in bytes {
      guard let digit = Hex.value(of: byte) else { continue }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
    }
    self.init(high: high, low: low)
  }

  /// The characters, as they go on the wire.
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.textBytes) { text, count in
      count = write(to: UnsafeMutableRawBufferPointer(text), at: 0)
    }
  }

  /// Writes the `textBytes` characters from `start`.
  ///
  /// - Returns: where they end.
  package func write(to text: UnsafeMutableRawBufferPointer, at start: Int) -> Int {
    let second = Hex.eightDigits(of: UInt32(truncatingIfNeeded: high))
    let third = Hex.eightDigits(of: UInt32(truncatingIfNeeded: low >> 32))
    store(Hex.eightDigits(of: UInt32(truncatingIfNeeded: high >> 32)), in: text, at: start)
    storeFour(second >> 32, in: text, at: start + 9)
    storeFour(second, in: text, at: start + 14)
    storeFour(third >> 32, in: text, at: start + 19)
    storeFour(third, in: text, at: start + 24)
    store(Hex.eightDigits(of: UInt32(truncatingIfNeeded: low)), in: text, at: start + 28)
    for hyphen in 0..<4 { text[start + 8 + 5 * hyphen] = UInt8(ascii: "-") }
    return start + Self.textBytes
  }

  private func store(_ digits: UInt64, in text: UnsafeMutableRawBufferPointer, at place: Int) {
    text.storeBytes(of: digits.bigEndian, toByteOffset: place, as: UInt64.self)
  }

  /// The lower four.
  private func storeFour(_ digits: UInt64, in text: UnsafeMutableRawBufferPointer, at place: Int) {
    text.storeBytes(of: UInt32(truncatingIfNeeded: digits).bigEndian, toByteOffset: place, as: UInt32.self)
  }

  package var description: String { String(decoding: bytes, as: UTF8.self) }
}
