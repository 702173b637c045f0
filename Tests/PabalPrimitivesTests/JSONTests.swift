import PabalPrimitives
import Testing

@Suite("JSON")
struct JSONTests {
  private func parse(_ text: String) throws(JSONError) -> JSONSlice {
    try JSONSlice(parsing: Array(text.utf8))
  }

  @Test("A value keeps its source spelling")
  func spelling() throws {
    let slice = try parse(#" {"b":1.50,"a":{"z":[1e3, "가/나"]},"c":null} "#)
    #expect(slice.members.map(\.name) == ["b", "a", "c"])
    #expect(String(decoding: slice["b"]?.bytes ?? [], as: UTF8.self) == "1.50")
    #expect(String(decoding: slice["a"]?.bytes ?? [], as: UTF8.self) == #"{"z":[1e3, "가/나"]}"#)
    #expect(slice["a"]?["z"]?.elements.map(\.kind) == [.number, .string])
    #expect(slice["c"]?.isNull == true)
    #expect(slice["missing"] == nil)
  }

  @Test("Names are the same only byte by byte")
  func names() throws {
    let slice = try parse("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}")
    #expect(slice["caf\u{E9}"]?.int == 1)
    #expect(slice["cafe\u{301}"]?.int == 2)
    let error = #expect(throws: JSONError.self) { try parse(#"{"é":1,"\u00e9":2}"#) }
    #expect(error?.kind == .duplicateKey)
  }

  @Test("Scalars are read by their own type only")
  func scalars() throws {
    let slice = try parse(#"{"i":-7,"d":0.5,"t":true,"s":"x"}"#)
    #expect(slice["i"]?.int == -7)
    #expect(slice["i"]?.string == nil)
    #expect(slice["d"]?.int == nil)
    #expect(slice["d"]?.double == 0.5)
    #expect(slice["t"]?.bool == true)
    #expect(slice["s"]?.bool == nil)
  }

  @Test("OC-28 Escapes become text, doubled escapes stay as typed, a lone surrogate is refused")
  func surrogates() throws {
    #expect(try parse(#"{"alert":"hi \ud83d\ude09"}"#)["alert"]?.string == "hi 😉")
    #expect(try parse(#"{"alert":"hi \\ud83d\\ude09"}"#)["alert"]?.string == #"hi \ud83d\ude09"#)
    let error = #expect(throws: JSONError.self) { try parse(#"{"alert":"hi \ud83d"}"#) }
    #expect(error?.kind == .loneSurrogate)
  }

  @Test(
    "What RFC 8259 does not allow is refused, with its place",
    arguments: [
      ("", JSONError.Kind.unexpectedEnd, 1, 1),
      ("{\"a\":1} x", .trailingBytes, 1, 9),
      ("{\"a\":1,\n \"a\":2}", .duplicateKey, 2, 2),
      ("{\"a\":1,\n \"\\u0061\":2}", .duplicateKey, 2, 2),
      ("[01]", .invalidNumber, 1, 2),
      ("[1.]", .invalidNumber, 1, 4),
      ("[-]", .invalidNumber, 1, 3),
      ("[1,]", .unexpectedCharacter, 1, 4),
      ("{\"a\" 1}", .unexpectedCharacter, 1, 6),
      ("'a'", .unexpectedCharacter, 1, 1),
      ("nul", .unexpectedEnd, 1, 4),
      ("\"a\u{1}\"", .controlCharacter, 1, 3),
      ("\"\\x\"", .invalidEscape, 1, 2),
      ("\"\\udc00\"", .loneSurrogate, 1, 2),
      ("\u{FEFF}{}", .byteOrderMark, 1, 1),
    ])
  func refused(text: String, kind: JSONError.Kind, line: Int, column: Int) {
    let error = #expect(throws: JSONError.self) { try parse(text) }
    #expect(error?.kind == kind)
    #expect(error?.line == line)
    #expect(error?.column == column)
  }

  @Test("Bytes that are not UTF-8 are refused", arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]])
  func invalidUTF8(bytes: [UInt8]) {
    let error = #expect(throws: JSONError.self) {
      try JSONSlice(parsing: [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
    }
    #expect(error?.kind == .invalidUTF8)
  }

  @Test("Depth is limited")
  func depth() throws {
    let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
    let error = #expect(throws: JSONError.self) { try parse(deep) }
    #expect(error?.kind == .tooDeep)
    _ = try parse(String(deep.dropFirst().dropLast()))
  }

  @Test("OC-27 Only quotes, backslashes and control characters are escaped")
  func writing() {
    let value: JSONValue = ["alert": "가<b>&\"'/ 😀\n\u{1}", "url": "https://example.com/a/b", "n": 0.25, "x": nil]
    #expect(
      value.encodedText
        == #"{"alert":"가<b>&\"'/ 😀\n\u0001","url":"https://example.com/a/b","n":0.25,"x":null}"#)
  }

  @Test("Raw members are spliced byte for byte, null members can be left out")
  func splicing() throws {
    let custom = try parse(#"{"k": [1.0,  2]}"#)
    let value = JSONValue.compact(["a": JSONValue(custom), "b": nil, "c": 5])
    #expect(value.encodedText == #"{"a":{"k": [1.0,  2]},"c":5}"#)
  }

  @Test("What is written is read back", arguments: 0..<200)
  func roundTrip(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let value = randomValue(depth: 4, using: &generator)
    let slice = try JSONSlice(parsing: value.encoded)
    #expect(JSONValue(copying: slice).encoded == value.encoded)
  }

  private func randomValue(depth: Int, using generator: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .int(Int64.random(in: .min ... .max, using: &generator))
    case 3: return .double(Double.random(in: -1e9...1e9, using: &generator))
    case 4: return .string(randomText(using: &generator))
    case 5:
      return .array(
        (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
          randomValue(depth: depth - 1, using: &generator)
        })
    default:
      return .object(
        (0..<Int.random(in: 0..<4, using: &generator)).map { index in
          JSONMember("\(index)" + randomText(using: &generator), randomValue(depth: depth - 1, using: &generator))
        })
    }
  }

  private func randomText(using generator: inout SeededGenerator) -> String {
    let scalars = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
      Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator))
    }
    return String(String.UnicodeScalarView(scalars))
  }
}

extension JSONValue {
  /// Decodes everything, so that a round trip goes through every reader.
  fileprivate init(copying slice: JSONSlice) {
    switch slice.kind {
    case .null: self = .null
    case .bool: self = JSONValue(slice.bool)
    case .string: self = JSONValue(slice.string)
    case .number: self = slice.int.map { .int(Int64($0)) } ?? slice.double.map(JSONValue.double) ?? .null
    case .array: self = .array(slice.elements.map(JSONValue.init(copying:)))
    case .object: self = .object(slice.members.map { JSONMember($0.name, JSONValue(copying: $0.value)) })
    }
  }
}
