/// Why bytes are not acceptable JSON, and where.
public struct JSONError: CodedError, Equatable {
  public enum Kind: String, Sendable {
    case unexpectedCharacter = "json_unexpected_character"
    case unexpectedEnd = "json_unexpected_end"
    case trailingBytes = "json_trailing_bytes"
    case byteOrderMark = "json_byte_order_mark"
    case invalidUTF8 = "json_invalid_utf8"
    case loneSurrogate = "json_lone_surrogate"
    case controlCharacter = "json_control_character"
    case invalidEscape = "json_invalid_escape"
    case invalidNumber = "json_invalid_number"
    case duplicateKey = "json_duplicate_key"
    case tooDeep = "json_too_deep"
  }

  public let kind: Kind
  /// Byte offset, from 0.
  public let offset: Int
  /// Line and column in bytes, from 1.
  public let line: Int
  public let column: Int
  public let place: Place

  public var code: String { kind.rawValue }

  public var message: String {
    "\(kind.sentence) at line \(line), column \(column)."
  }

  init(_ kind: Kind, at offset: Int, in bytes: [UInt8], file: String = #fileID, line: Int = #line) {
    self.kind = kind
    self.offset = offset
    let position = TextPosition(of: offset, in: bytes)
    self.line = position.line
    column = position.column
    self.place = Place(file: file, line: line)
  }

  public static func == (left: JSONError, right: JSONError) -> Bool {
    left.kind == right.kind && left.offset == right.offset
  }
}

extension JSONError.Kind {
  fileprivate var sentence: String {
    switch self {
    case .unexpectedCharacter: "A character that JSON does not allow here"
    case .unexpectedEnd: "The JSON text ends too early"
    case .trailingBytes: "Something follows the JSON value; remove it"
    case .byteOrderMark: "The text starts with a byte order mark; save it without one"
    case .invalidUTF8: "Bytes that are not UTF-8"
    case .loneSurrogate: "Half of a surrogate pair; write the whole character"
    case .controlCharacter: "A control character inside a string; escape it"
    case .invalidEscape: "An escape that JSON does not know"
    case .invalidNumber: "A number in a form that JSON does not know"
    case .duplicateKey: "The same key twice in one object; keep one"
    case .tooDeep: "Too many nested objects and arrays"
    }
  }
}
