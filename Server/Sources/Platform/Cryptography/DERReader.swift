/// Reads ASN.1 in DER (X.690), value by value, without copying.
///
/// Only what certificates need: one-byte tags and lengths below 2^32. Indefinite and non-minimal lengths are BER, not
/// DER, and count as malformed.
package struct DERReader: Sendable {
  /// One value: its tag byte and what is inside.
  package struct Element: Sendable {
    package let tag: UInt8
    package let content: ArraySlice<UInt8>

    package var isSequence: Bool { tag == DERTag.sequence }

    /// The text of a UTF8String, PrintableString or IA5String; `nil` for other tags and for bytes that are not UTF-8.
    package var text: String? {
      guard [DERTag.utf8String, DERTag.printableString, DERTag.ia5String].contains(tag) else { return nil }
      return String(validating: content, as: UTF8.self)
    }

    /// The values inside a constructed one; `nil` when they are malformed.
    package var children: [Element]? { DERReader(content).all() }
  }

  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  package init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  package var isAtEnd: Bool { rest.isEmpty }

  /// The next value; `nil` at the end and when the bytes are malformed.
  package mutating func next() -> Element? {
    guard rest.count >= 2 else { return nil }
    let tag = rest[rest.startIndex]
    // Tags of several bytes do not occur in certificates.
    guard tag & 0x1F != 0x1F else { return nil }
    guard let (length, headerBytes) = length() else { return nil }
    let start = rest.startIndex + headerBytes
    guard length <= rest.endIndex - start else { return nil }
    let content = rest[start..<start + length]
    rest = rest[(start + length)...]
    return Element(tag: tag, content: content)
  }

  /// All values to the end; `nil` when one is malformed.
  package func all() -> [Element]? {
    var reader = self
    var elements: [Element] = []
    while !reader.isAtEnd {
      guard let element = reader.next() else { return nil }
      elements.append(element)
    }
    return elements
  }

  /// X.690 section 10.1: the shortest form only. `nil` when malformed.
  private func length() -> (length: Int, headerBytes: Int)? {
    let first = rest[rest.startIndex + 1]
    guard first & 0x80 != 0 else { return (Int(first), 2) }
    let count = Int(first & 0x7F)
    guard (1...4).contains(count), rest.count >= 2 + count else { return nil }
    let digits = rest[(rest.startIndex + 2)..<(rest.startIndex + 2 + count)]
    let length = digits.reduce(0) { $0 << 8 | Int($1) }
    guard length >= 0x80, digits.first != 0 else { return nil }
    return (length, 2 + count)
  }
}

/// Tag bytes of X.690, primitive or constructed as DER demands.
package enum DERTag {
  package static let boolean: UInt8 = 0x01
  package static let integer: UInt8 = 0x02
  package static let octetString: UInt8 = 0x04
  package static let null: UInt8 = 0x05
  package static let objectIdentifier: UInt8 = 0x06
  package static let utf8String: UInt8 = 0x0C
  package static let printableString: UInt8 = 0x13
  package static let ia5String: UInt8 = 0x16
  package static let sequence: UInt8 = 0x30
}

/// Writes ASN.1 in DER (X.690).
package enum DERWriter {
  /// A value with its tag and length.
  package static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    if content.count < 0x80 {
      length = [UInt8(content.count)]
    } else {
      var count = content.count
      while count > 0 {
        length.insert(UInt8(count & 0xFF), at: 0)
        count >>= 8
      }
      length.insert(0x80 | UInt8(length.count), at: 0)
    }
    return [tag] + length + content
  }

  /// A UTF8String.
  package static func utf8String(_ text: String) -> [UInt8] {
    element(DERTag.utf8String, Array(text.utf8))
  }

  /// A SEQUENCE of values that are encoded already.
  package static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
    element(DERTag.sequence, elements.flatMap { $0 })
  }

  package static let null: [UInt8] = [DERTag.null, 0]
}
