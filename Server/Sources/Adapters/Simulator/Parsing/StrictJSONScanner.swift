/// A strict reader of JSON (RFC 8259) that judges bytes without building a tree.
///
/// Written apart from the JSON of the rest of the house, so that a body which our own encoder spoils is seen here.
/// Refused: anything but one object, duplicate keys (after unescaping), nesting deeper than the limit, lone surrogates,
/// control characters in strings, invalid UTF-8, a byte-order mark, numbers such as `01` or `1.`, trailing bytes.
struct StrictJSONScanner {
  /// What was wrong and at which byte, from 0.
  struct Fault: Error, Equatable {
    let problem: StaticString
    let offset: Int

    static func == (left: Fault, right: Fault) -> Bool {
      left.offset == right.offset && left.problem.description == right.problem.description
    }
  }

  enum Kind: Equatable { case object, array, string, number, bool, null }

  /// A member of the root object. `text` is the unescaped value of a string.
  struct Member {
    let name: [UInt8]
    let kind: Kind
    let range: Range<Int>
  }

  private struct Key {
    let range: Range<Int>
    let unescaped: [UInt8]?
  }

  private let bytes: [UInt8]
  private let maximumDepth: Int
  private var position = 0
  private var keys: [Key] = []
  private var members: [Member] = []

  private init(_ bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  /// The members of the root object in their order.
  static func members(
    of bytes: [UInt8], maximumDepth: Int = StandInLimits.payloadDepth
  ) throws(Fault) -> [Member] {
    var scanner = StrictJSONScanner(bytes, maximumDepth: maximumDepth)
    scanner.skipBlanks()
    guard scanner.peek == UInt8(ascii: "{") else { throw scanner.fault("the body is not a JSON object") }
    _ = try scanner.value(depth: 1)
    scanner.skipBlanks()
    guard scanner.position == bytes.count else { throw scanner.fault("bytes after the end of the object") }
    return scanner.members
  }

  /// The unescaped text of a string member.
  static func text(of member: Member, in bytes: [UInt8]) throws(Fault) -> String? {
    guard member.kind == .string else { return nil }
    var scanner = StrictJSONScanner(bytes, maximumDepth: 1)
    scanner.position = member.range.lowerBound
    let key = try scanner.string()
    return String(decoding: key.unescaped ?? Array(bytes[key.range]), as: UTF8.self)
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func fault(_ problem: StaticString) -> Fault { Fault(problem: problem, offset: position) }

  private mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(Fault) -> Kind {
    guard depth <= maximumDepth else { throw fault("nested too deep") }
    guard let first = peek else { throw fault("a value is missing") }
    switch first {
    case UInt8(ascii: "{"):
      try object(depth: depth)
      return .object
    case UInt8(ascii: "["):
      try array(depth: depth)
      return .array
    case UInt8(ascii: "\""):
      _ = try string()
      return .string
    case UInt8(ascii: "t"):
      try word("true")
      return .bool
    case UInt8(ascii: "f"):
      try word("false")
      return .bool
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try number()
      return .number
    default: throw fault("a value is missing")
    }
  }

  private mutating func object(depth: Int) throws(Fault) {
    position += 1
    let base = keys.count
    skipBlanks()
    if peek == UInt8(ascii: "}") {
      position += 1
      return
    }
    while true {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw fault("a member name is missing") }
      let key = try string()
      guard !isKnown(key, from: base) else { throw fault("the same member name twice") }
      keys.append(key)
      skipBlanks()
      guard peek == UInt8(ascii: ":") else { throw fault("a colon is missing") }
      position += 1
      skipBlanks()
      let start = position
      let kind = try value(depth: depth + 1)
      if depth == 1 {
        let name = key.unescaped ?? Array(bytes[key.range])
        members.append(Member(name: name, kind: kind, range: start..<position))
      }
      skipBlanks()
      switch peek {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        keys.removeSubrange(base...)
        return
      default: throw fault("a comma or the end of the object is missing")
      }
    }
  }

  private mutating func array(depth: Int) throws(Fault) {
    position += 1
    skipBlanks()
    if peek == UInt8(ascii: "]") {
      position += 1
      return
    }
    while true {
      skipBlanks()
      _ = try value(depth: depth + 1)
      skipBlanks()
      switch peek {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return
      default: throw fault("a comma or the end of the array is missing")
      }
    }
  }

  private func isKnown(_ key: Key, from base: Int) -> Bool {
    keys[base...].contains { other in
      switch (key.unescaped, other.unescaped) {
      case (nil, nil):
        key.range.count == other.range.count && bytes[key.range].elementsEqual(bytes[other.range])
      case (let left?, nil): left.elementsEqual(bytes[other.range])
      case (nil, let right?): bytes[key.range].elementsEqual(right)
      case (let left?, let right?): left == right
      }
    }
  }

  private mutating func word(_ text: StaticString) throws(Fault) {
    let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard position + expected.count <= bytes.count,
      bytes[position..<position + expected.count].elementsEqual(expected)
    else { throw fault("an unknown word") }
    position += expected.count
  }

  private mutating func number() throws(Fault) {
    if peek == UInt8(ascii: "-") { position += 1 }
    if peek == UInt8(ascii: "0") {
      position += 1
      if let next = peek, isDigit(next) { throw fault("a number with a leading zero") }
    } else {
      try digits()
    }
    if peek == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private mutating func digits() throws(Fault) {
    let start = position
    while let byte = peek, isDigit(byte) { position += 1 }
    guard position > start else { throw fault("a digit is missing") }
  }

  /// Reads a string and gives the range between its quotes, and its unescaped bytes if it has escapes.
  private mutating func string() throws(Fault) -> Key {
    position += 1
    let start = position
    var unescaped: [UInt8]?
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        let range = start..<position
        position += 1
        return Key(range: range, unescaped: unescaped)
      case UInt8(ascii: "\\"):
        if unescaped == nil { unescaped = Array(bytes[start..<position]) }
        unescaped?.append(contentsOf: try escape())
      case 0..<0x20: throw fault("a control character in a string")
      case 0x80...:
        let width = try multibyteWidth(byte)
        unescaped?.append(contentsOf: bytes[position..<position + width])
        position += width
      default:
        unescaped?.append(byte)
        position += 1
      }
    }
    throw fault("a string without its end")
  }

  private mutating func escape() throws(Fault) -> [UInt8] {
    position += 1
    guard let byte = peek else { throw fault("a string without its end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(try unicodeEscape()).utf8)
    default: throw fault("an unknown escape")
    }
  }

  private mutating func unicodeEscape() throws(Fault) -> Unicode.Scalar {
    let first = try hexQuad()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, peek == UInt8(ascii: "\\") else { throw fault("half a surrogate pair") }
    position += 1
    guard peek == UInt8(ascii: "u") else { throw fault("half a surrogate pair") }
    position += 1
    let second = try hexQuad()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw fault("half a surrogate pair") }
    return scalar
  }

  private mutating func hexQuad() throws(Fault) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = hexValue(byte) else { throw fault("four hex digits are missing") }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  /// The width of the UTF-8 sequence at the position (RFC 3629 section 4: no overlong form, no surrogate).
  private func multibyteWidth(_ lead: UInt8) throws(Fault) -> Int {
    let second: ClosedRange<UInt8>
    let width: Int
    switch lead {
    case 0xC2...0xDF: (width, second) = (2, 0x80...0xBF)
    case 0xE0: (width, second) = (3, 0xA0...0xBF)
    case 0xED: (width, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (width, second) = (3, 0x80...0xBF)
    case 0xF0: (width, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (width, second) = (4, 0x80...0xBF)
    case 0xF4: (width, second) = (4, 0x80...0x8F)
    default: throw fault("bytes that are not UTF-8")
    }
    guard position + width <= bytes.count, second.contains(bytes[position + 1]),
      bytes[(position + 2)..<(position + width)].allSatisfy({ (0x80...0xBF).contains($0) })
    else { throw fault("bytes that are not UTF-8") }
    return width
  }
}

/// The value of a hex digit of either case.
func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x41 + 10
  case 0x61...0x66: byte - 0x61 + 10
  default: nil
  }
}
