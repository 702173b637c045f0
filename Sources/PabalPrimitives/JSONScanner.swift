/// Checks that bytes are one JSON value, strictly by RFC 8259, and more: no duplicate keys, no lone surrogates, no
/// byte order mark, limited depth.
struct JSONScanner {
  let bytes: [UInt8]
  var position = 0
  let maximumDepth: Int

  init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  /// The range of the value, white space around it left out.
  mutating func scanDocument() throws(JSONError) -> Range<Int> {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw error(.byteOrderMark) }
    skipWhitespace()
    let start = position
    try scanValue(depth: 0)
    let end = position
    skipWhitespace()
    guard position == bytes.count else { throw error(.trailingBytes) }
    return start..<end
  }

  mutating func skipWhitespace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  mutating func scanValue(depth: Int) throws(JSONError) {
    switch try peek() {
    case UInt8(ascii: "{"): try scanObject(depth: depth)
    case UInt8(ascii: "["): try scanArray(depth: depth)
    case UInt8(ascii: "\""): try scanString()
    case UInt8(ascii: "t"): try scanWord("true")
    case UInt8(ascii: "f"): try scanWord("false")
    case UInt8(ascii: "n"): try scanWord("null")
    case UInt8(ascii: "-"), 0x30...0x39: try scanNumber()
    default: throw error(.unexpectedCharacter)
    }
  }

  private mutating func scanObject(depth: Int) throws(JSONError) {
    try open(depth: depth)
    if try takeIf(UInt8(ascii: "}")) { return }
    // As bytes: `String` calls two spellings of one accented letter equal, RFC 8259 section 8.3 does not.
    var keys = Set<[UInt8]>()
    repeat {
      skipWhitespace()
      let start = position
      guard try peek() == UInt8(ascii: "\"") else { throw error(.unexpectedCharacter) }
      try scanString()
      let key = Array(JSONText.unescape(bytes[start..<position]).utf8)
      guard keys.insert(key).inserted else { throw error(.duplicateKey, at: start) }
      skipWhitespace()
      try expect(UInt8(ascii: ":"))
      skipWhitespace()
      try scanValue(depth: depth + 1)
      skipWhitespace()
    } while try takeIf(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  private mutating func scanArray(depth: Int) throws(JSONError) {
    try open(depth: depth)
    if try takeIf(UInt8(ascii: "]")) { return }
    repeat {
      skipWhitespace()
      try scanValue(depth: depth + 1)
      skipWhitespace()
    } while try takeIf(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  private mutating func open(depth: Int) throws(JSONError) {
    guard depth < maximumDepth else { throw error(.tooDeep) }
    position += 1
    skipWhitespace()
  }

  private mutating func scanWord(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      guard try peek() == word.utf8Start[index] else { throw error(.unexpectedCharacter) }
      position += 1
    }
  }

  private mutating func scanNumber() throws(JSONError) {
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let start = position
    try scanDigits()
    if bytes[start] == UInt8(ascii: "0"), position - start > 1 { throw error(.invalidNumber, at: start) }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      try scanDigits()
    }
    guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return }
    position += 1
    if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
      position += 1
    }
    try scanDigits()
  }

  private mutating func scanDigits() throws(JSONError) {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    guard position > start else {
      throw error(position == bytes.count ? .unexpectedEnd : .invalidNumber)
    }
  }

  mutating func scanString() throws(JSONError) {
    position += 1
    while true {
      switch try peek() {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"): try scanEscape()
      case 0x00..<0x20: throw error(.controlCharacter)
      case 0x20..<0x80: position += 1
      default: try scanMultibyte()
      }
    }
  }

  private mutating func scanEscape() throws(JSONError) {
    let start = position
    position += 1
    switch try peek() {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 1
    case UInt8(ascii: "u"):
      let unit = try scanHexUnit()
      if (0xDC00...0xDFFF).contains(unit) { throw error(.loneSurrogate, at: start) }
      guard (0xD800...0xDBFF).contains(unit) else { return }
      guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
        bytes[position + 1] == UInt8(ascii: "u")
      else { throw error(.loneSurrogate, at: start) }
      position += 1
      guard (0xDC00...0xDFFF).contains(try scanHexUnit()) else { throw error(.loneSurrogate, at: start) }
    default: throw error(.invalidEscape, at: start)
    }
  }

  private mutating func scanHexUnit() throws(JSONError) -> UInt16 {
    position += 1
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Hex.value(of: try peek()) else { throw error(.invalidEscape) }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }

  /// One multi-byte UTF-8 scalar by the table of RFC 3629 section 4.
  private mutating func scanMultibyte() throws(JSONError) {
    let lead = bytes[position]
    let (length, second): (Int, ClosedRange<UInt8>)
    switch lead {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw error(.invalidUTF8)
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]),
      bytes[(position + 2)..<max(position + length, position + 2)].allSatisfy({ 0x80...0xBF ~= $0 })
    else { throw error(.invalidUTF8) }
    position += length
  }

  private func peek() throws(JSONError) -> UInt8 {
    guard position < bytes.count else { throw error(.unexpectedEnd) }
    return bytes[position]
  }

  private mutating func expect(_ character: UInt8) throws(JSONError) {
    guard try peek() == character else { throw error(.unexpectedCharacter) }
    position += 1
  }

  private mutating func takeIf(_ character: UInt8) throws(JSONError) -> Bool {
    guard try peek() == character else { return false }
    position += 1
    return true
  }

  private func error(_ kind: JSONError.Kind, at offset: Int? = nil, file: String = #fileID, line: Int = #line)
    -> JSONError
  {
    JSONError(kind, at: offset ?? position, in: bytes, file: file, line: line)
  }
}
