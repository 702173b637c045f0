public struct JSONMember: Sendable, Equatable {
  public var name: String
  public var value: JSONValue

  public init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

/// JSON to be written: members keep their order, `raw` is spliced byte for byte.
public enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([JSONMember])
  /// Bytes that are one JSON value already; whoever makes this case has checked them.
  case raw([UInt8])

  public init(_ slice: JSONSlice) {
    self = .raw(Array(slice.bytes))
  }

  public init(_ text: String?) {
    self = text.map(JSONValue.string) ?? .null
  }

  public init(_ number: Int?) {
    self = number.map { .int(Int64($0)) } ?? .null
  }

  public init(_ number: Int64?) {
    self = number.map(JSONValue.int) ?? .null
  }

  public init(_ flag: Bool?) {
    self = flag.map(JSONValue.bool) ?? .null
  }

  /// An object without its `null` members.
  public static func compact(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(members.compactMap { $0.value == .null ? nil : JSONMember($0.key, $0.value) })
  }

  /// The text, compact, as UTF-8.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  public var encodedText: String {
    String(decoding: encoded, as: UTF8.self)
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .int(let number): bytes.append(contentsOf: String(number).utf8)
    case .double(let number): bytes.append(contentsOf: Self.spell(number).utf8)
    case .string(let text): JSONText.append(quoting: text, to: &bytes)
    case .raw(let source): bytes.append(contentsOf: source)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(quoting: member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// JSON has no infinity and no NaN; both become `null`, as in ECMAScript.
  private static func spell(_ number: Double) -> String {
    guard number.isFinite else { return "null" }
    if number.rounded() == number, number.magnitude < 1e15 { return String(Int64(number)) }
    return String(number)
  }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral text: String) {
    self = .string(text)
  }

  public init(integerLiteral number: Int64) {
    self = .int(number)
  }

  public init(floatLiteral number: Double) {
    self = .double(number)
  }

  public init(booleanLiteral flag: Bool) {
    self = .bool(flag)
  }

  public init(arrayLiteral elements: JSONValue...) {
    self = .array(elements)
  }

  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(members.map { JSONMember($0.0, $0.1) })
  }

  public init(nilLiteral: ()) {
    self = .null
  }
}
