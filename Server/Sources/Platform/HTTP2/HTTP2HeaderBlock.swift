/// The fields of one header section in the order received, duplicates and pseudo-headers included, as bytes.
///
/// One array for all fields, so that a typical response costs one allocation and no `String`.
package struct HTTP2HeaderBlock: Sendable, Hashable {
  /// Per field: two bytes of name length, two of value length (little endian), name, value.
  private(set) var storage: [UInt8] = []

  package private(set) var count = 0

  package init() {}

  package init(_ fields: [(String, String)]) {
    for (name, value) in fields { append(name: Array(name.utf8), value: Array(value.utf8)) }
  }

  /// Adopts bytes laid out as `storage`.
  init(storage: [UInt8], count: Int) {
    self.storage = storage
    self.count = count
  }

  /// A name or value beyond 65,535 bytes is cut there; nghttp2 lets no header section grow that large.
  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    for length in [name.count, value.count] {
      let clamped = UInt16(clamping: length)
      storage.append(UInt8(truncatingIfNeeded: clamped))
      storage.append(UInt8(truncatingIfNeeded: clamped >> 8))
    }
    storage.append(contentsOf: name.prefix(Int(UInt16.max)))
    storage.append(contentsOf: value.prefix(Int(UInt16.max)))
    count += 1
  }

  /// Calls `body` for each field in order until it returns false.
  package func visit(_ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool) {
    var offset = 0
    while offset + 4 <= storage.count {
      let nameCount = Int(storage[offset]) | Int(storage[offset + 1]) << 8
      let valueCount = Int(storage[offset + 2]) | Int(storage[offset + 3]) << 8
      let name = offset + 4
      let value = name + nameCount
      guard body(storage[name..<value], storage[value..<value + valueCount]) else { return }
      offset = value + valueCount
    }
  }

  /// The first value of a field, given in lower case.
  package func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    var found: ArraySlice<UInt8>?
    visit { fieldName, value in
      guard Self.equal(fieldName, name) else { return true }
      found = value
      return false
    }
    return found
  }

  /// All values of a field, given in lower case, in order.
  package func all(_ name: StaticString) -> [ArraySlice<UInt8>] {
    var values: [ArraySlice<UInt8>] = []
    visit { fieldName, value in
      if Self.equal(fieldName, name) { values.append(value) }
      return true
    }
    return values
  }

  /// The first value of a field as text; invalid UTF-8 is repaired.
  package func string(_ name: StaticString) -> String? {
    first(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Every field as text: for logs and tests, not for the hot path.
  package var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    visit { name, value in
      fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
      return true
    }
    return fields
  }

  private static func equal(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return bytes.elementsEqual(expected)
  }
}
