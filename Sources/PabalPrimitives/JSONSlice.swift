public enum JSONKind: Sendable, Hashable {
  case object, array, string, number, bool, null
}

/// A checked JSON value that stays inside its source bytes.
///
/// Nothing is decoded until it is asked for, and `bytes` gives the exact source spelling back, so that a caller's own
/// value passes through with its key order and its numbers untouched.
public struct JSONSlice: Sendable {
  private let source: [UInt8]
  private let range: Range<Int>

  /// Checks `bytes` strictly by RFC 8259; duplicate keys, lone surrogates, a byte order mark, bytes after the value
  /// and more than `maximumDepth` nested containers are errors.
  public init(parsing bytes: [UInt8], maximumDepth: Int = 32) throws(JSONError) {
    var scanner = JSONScanner(bytes: bytes, maximumDepth: maximumDepth)
    range = try scanner.scanDocument()
    source = bytes
  }

  private init(source: [UInt8], range: Range<Int>) {
    self.source = source
    self.range = range
  }

  public var bytes: ArraySlice<UInt8> { source[range] }

  /// Where the value starts in the bytes that were parsed, from 0.
  public var offset: Int { range.lowerBound }

  public var kind: JSONKind {
    switch source[range.lowerBound] {
    case UInt8(ascii: "{"): .object
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
    case UInt8(ascii: "n"): .null
    default: .number
    }
  }

  public var isNull: Bool { kind == .null }

  /// `nil` unless this is a string.
  public var string: String? {
    kind == .string ? JSONText.unescape(bytes) : nil
  }

  /// `nil` unless this is a number written as an integer that fits.
  public var int: Int? {
    kind == .number ? Int(String(decoding: bytes, as: UTF8.self)) : nil
  }

  /// `nil` unless this is a number.
  public var double: Double? {
    kind == .number ? Double(String(decoding: bytes, as: UTF8.self)) : nil
  }

  /// `nil` unless this is `true` or `false`.
  public var bool: Bool? {
    kind == .bool ? source[range.lowerBound] == UInt8(ascii: "t") : nil
  }

  /// The members in source order; empty unless this is an object.
  public var members: [(name: String, value: JSONSlice)] {
    guard kind == .object else { return [] }
    var members: [(name: String, value: JSONSlice)] = []
    forEachChild { name, value in
      if let name { members.append((JSONText.unescape(source[name]), value)) }
    }
    return members
  }

  /// The elements in order; empty unless this is an array.
  public var elements: [JSONSlice] {
    guard kind == .array else { return [] }
    var elements: [JSONSlice] = []
    forEachChild { _, value in elements.append(value) }
    return elements
  }

  public subscript(_ key: String) -> JSONSlice? {
    guard kind == .object else { return nil }
    var found: JSONSlice?
    forEachChild { name, value in
      if let name, found == nil, JSONText.unescape(source[name]).utf8.elementsEqual(key.utf8) { found = value }
    }
    return found
  }

  private func forEachChild(_ body: (Range<Int>?, JSONSlice) -> Void) {
    let isObject = kind == .object
    var scanner = JSONScanner(bytes: source, maximumDepth: .max)
    scanner.position = range.lowerBound + 1
    do throws(JSONError) {
      while true {
        scanner.skipWhitespace()
        guard scanner.position < range.upperBound - 1 else { return }
        if source[scanner.position] == UInt8(ascii: ",") {
          scanner.position += 1
          scanner.skipWhitespace()
        }
        var name: Range<Int>?
        if isObject {
          let start = scanner.position
          try scanner.scanString()
          name = start..<scanner.position
          scanner.skipWhitespace()
          scanner.position += 1
          scanner.skipWhitespace()
        }
        let start = scanner.position
        try scanner.scanValue(depth: 0)
        body(name, JSONSlice(source: source, range: start..<scanner.position))
      }
    } catch {
      preconditionFailure("the bytes were checked when this value was made")
    }
  }
}
