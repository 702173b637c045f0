/// The target of a request line, taken apart by our own rules (RFC 9112 section 3.2.1, RFC 3986).
///
/// Only the origin form. The path is split at `/` first and each segment decoded after that, so that `%2F` is data.
/// Refused: absolute and asterisk form, `#`, empty inner segments, plain `.` and `..`, broken `%`, `%00`, bytes that
/// are not UTF-8, control characters.
struct RequestTarget: Sendable, Equatable {
  let path: String
  let segments: [String]
  let query: [HTTPField]

  init(parsing target: [UInt8], queryArguments: Int) throws(APIError) {
    guard target.first == UInt8(ascii: "/") else {
      throw Self.refused("The request target must start with '/'.")
    }
    if target.contains(where: { $0 < 0x21 || $0 == 0x7F || $0 == UInt8(ascii: "#") }) {
      throw Self.refused("The request target holds a control character, a blank or '#'; percent-encode it.")
    }
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    let rawPath = target[..<(mark ?? target.endIndex)]
    let rawQuery = mark.map { target[($0 + 1)...] }
    guard let path = String(validating: rawPath, as: UTF8.self) else {
      throw Self.refused("The path is not UTF-8.")
    }
    self.path = path
    self.segments = try Self.segments(rawPath)
    self.query = try Self.arguments(rawQuery ?? [], maximum: queryArguments)
  }

  private static func segments(_ path: ArraySlice<UInt8>) throws(APIError) -> [String] {
    let raw = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    var segments: [String] = []
    for (index, part) in raw.enumerated() {
      if part.isEmpty, index < raw.count - 1 { throw refused("The path holds an empty segment ('//').") }
      if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
        throw refused("'.' and '..' are not resolved; write an id of that name as %2E.")
      }
      segments.append(try decode(part, plusIsSpace: false))
    }
    return segments
  }

  private static func arguments(_ query: ArraySlice<UInt8>, maximum: Int) throws(APIError) -> [HTTPField] {
    let parts = query.split(separator: UInt8(ascii: "&"))
    guard parts.count <= maximum else {
      throw refused("The query has more than \(maximum) arguments.")
    }
    var fields: [HTTPField] = []
    for part in parts {
      let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      let value = equals < part.endIndex ? part[(equals + 1)...] : []
      fields.append(
        HTTPField(try decode(part[..<equals], plusIsSpace: true), try decode(value, plusIsSpace: true)))
    }
    return fields
  }

  private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) throws(APIError) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      guard byte == UInt8(ascii: "%") else {
        decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      guard index + 1 < bytes.endIndex, let high = digit(bytes[index]), let low = digit(bytes[index + 1]) else {
        throw refused("A '%' is not followed by two hexadecimal digits.")
      }
      decoded.append(high << 4 | low)
      index += 2
    }
    if decoded.contains(0) { throw refused("%00 cannot be part of a path or query.") }
    guard let text = String(validating: decoded, as: UTF8.self) else {
      throw refused("A part of the path or query is not UTF-8.")
    }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func refused(_ message: String) -> APIError {
    APIError(400, .invalidRequest, "target_invalid", message)
  }
}
