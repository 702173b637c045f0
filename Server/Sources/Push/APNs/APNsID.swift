package import PabalPrimitives

/// Value of `apns-id`: a UUID, lower case, 8-4-4-4-12.
package struct APNsID: Hashable, Sendable, CustomStringConvertible {
  /// The 36 characters, as they go on the wire.
  package let bytes: [UInt8]

  /// A version 4 UUID (RFC 9562 section 5.4).
  package init(random: Randomness) {
    self.init(octets: random.fill(16))
  }

  /// Makes a UUID out of 16 bytes that the caller computed; version and variant bits are set, the rest is kept.
  ///
  /// - Precondition: `octets` has 16 bytes.
  package init(octets: [UInt8]) {
    precondition(octets.count == 16, "a UUID has 16 bytes")
    var octets = octets
    octets[6] = (octets[6] & 0x0F) | 0x40
    octets[8] = (octets[8] & 0x3F) | 0x80
    let digits = Hex.digits(of: octets)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in digits.indices {
      if index == 8 || index == 12 || index == 16 || index == 20 { bytes.append(UInt8(ascii: "-")) }
      bytes.append(digits[index])
    }
    self.bytes = bytes
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
    self.bytes = bytes
  }

  package var description: String { String(decoding: bytes, as: UTF8.self) }
}
