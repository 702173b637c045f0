import HTTPServer
import PabalPrimitives

/// The body of a control call: an object of known members. No body counts as `{}`.
struct ControlBody {
  private let object: JSONSlice?

  init(_ request: HTTPRequest, known: [String]) throws(APIError) {
    try self.init(request.body, known: known)
  }

  init(_ bytes: [UInt8], known: [String]) throws(APIError) {
    guard !bytes.isEmpty else {
      object = nil
      return
    }
    do throws(JSONError) {
      object = try JSONSlice(parsing: bytes)
    } catch {
      throw APIError.malformedJSON(error)
    }
    try Self.check(object, known: known, at: "")
  }

  init(_ value: JSONSlice, known: [String], at path: String) throws(APIError) {
    object = value
    try Self.check(value, known: known, at: path)
  }

  private static func check(_ value: JSONSlice?, known: [String], at path: String) throws(APIError) {
    guard let value else { return }
    guard value.kind == .object else { throw APIError.invalid(path.isEmpty ? "body" : path, "is not an object") }
    for member in value.members where !known.contains(member.name) {
      throw APIError.unknown(path.isEmpty ? member.name : "\(path).\(member.name)", known: known)
    }
  }

  var names: [String] { object?.members.map(\.name) ?? [] }

  /// The member, unless it is missing or null.
  func value(_ name: String) -> JSONSlice? {
    guard let value = object?[name], !value.isNull else { return nil }
    return value
  }

  /// The member is there and null.
  func isNull(_ name: String) -> Bool { object?[name]?.isNull == true }

  func text(_ name: String) throws(APIError) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string else { throw APIError.invalid(name, "is not a string") }
    return text
  }

  func number(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
    guard let value = value(name) else { return nil }
    guard let number = value.int, range.contains(number) else {
      throw APIError.invalid(name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flag(_ name: String) throws(APIError) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw APIError.invalid(name, "is neither true nor false") }
    return flag
  }

  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _: Word.Type
  ) throws(APIError) -> Word? where Word.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw APIError.invalid(name, "is none of \(known)")
    }
    return word
  }

  /// The bytes of a device token in hex.
  func token(_ name: String) throws(APIError) -> [UInt8]? {
    guard let text = try text(name) else { return nil }
    return try Self.token(text, name)
  }

  static func token(_ text: String, _ name: String) throws(APIError) -> [UInt8] {
    guard let bytes = DeviceTokenText.bytes(text[...]) else {
      throw APIError.invalid(name, "is not hex of 1 to \(StandInLimits.deviceTokenBytes) whole bytes")
    }
    return bytes
  }
}

/// The query of a control call: known names, each once.
struct ControlQuery {
  private let fields: [HTTPField]

  init(_ request: HTTPRequest, known: [String]) throws(APIError) {
    for (index, field) in request.query.enumerated() {
      guard known.contains(field.name) else { throw APIError.unknown(field.name, known: known) }
      guard !request.query[..<index].contains(where: { $0.name == field.name }) else {
        throw APIError.invalid(field.name, "is given twice")
      }
    }
    fields = request.query
  }

  func text(_ name: String) -> String? {
    fields.first { $0.name == name }?.value
  }

  func number(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw APIError.invalid(name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// How many items the page has.
  func limit() throws(APIError) -> Int {
    try number("limit", 1...StandInLimits.pageSize) ?? 100
  }

  /// The position that an earlier page gave as `nextCursor`.
  func cursor() throws(APIError) -> Int {
    try number("cursor", 0...Int.max) ?? 0
  }
}
