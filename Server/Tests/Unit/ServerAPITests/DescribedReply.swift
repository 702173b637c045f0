import HTTPServer
import PabalPrimitives

/// Holds replies to what `/openapi.json` says of them: JSON Schema 2020-12, as far as the document uses it. A keyword
/// that is not known here is a finding too.
struct DescribedReply: Sendable {
  let document: JSONSlice

  /// What is wrong with a reply of this route; empty when it is as described.
  func findings(_ method: HTTPMethod, path: String, status: Int, contentType: String?, body: JSONSlice?) -> [String] {
    let route = "\(method.rawValue) \(path)"
    guard let operation = document["paths"]?[path]?[method.rawValue.lowercased()] else {
      return ["\(route) is not described"]
    }
    guard let reply = operation["responses"]?[String(status)] else { return ["\(route) may not answer \(status)"] }
    guard let content = reply["content"]?.members.first else { return [] }
    guard contentType?.hasPrefix(content.name) == true else {
      return ["\(route) \(status) is \(contentType ?? "of no type"), not \(content.name)"]
    }
    guard content.name == "application/json", let schema = content.value["schema"] else { return [] }
    guard let body else { return ["\(route) \(status) is no JSON"] }
    return check(body, schema, "\(route) \(status) body")
  }

  private func check(_ value: JSONSlice, _ schema: JSONSlice, _ place: String) -> [String] {
    schema.members.flatMap { keyword, rule -> [String] in
      switch keyword {
      case "$ref": reference(value, rule, place)
      case "type": Self.isOf(rule.string ?? "", value) ? [] : ["\(place) is no \(rule.string ?? "?")"]
      case "const": Self.equal(value, rule) ? [] : ["\(place) is not \(text(rule))"]
      case "enum": rule.elements.contains { Self.equal(value, $0) } ? [] : ["\(place) is not in \(text(rule))"]
      case "anyOf":
        rule.elements.contains { check(value, $0, place).isEmpty } ? [] : ["\(place) is none of \(text(rule))"]
      case "required":
        rule.elements.compactMap(\.string).filter { value[$0] == nil }.map { "\(place) lacks \($0)" }
      case "properties":
        rule.members.flatMap { name, schema in value[name].map { check($0, schema, "\(place).\(name)") } ?? [] }
      case "additionalProperties": others(value, rule, schema, place)
      case "items": value.elements.enumerated().flatMap { check($1, rule, "\(place)[\($0)]") }
      case "minimum": (value.int ?? 0) >= (rule.int ?? 0) ? [] : ["\(place) is too small"]
      case "maximum": (value.int ?? 0) <= (rule.int ?? 0) ? [] : ["\(place) is too large"]
      case "maxItems": value.elements.count <= (rule.int ?? 0) ? [] : ["\(place) has too many"]
      case "format": WallTime(rfc3339: value.string ?? "") == nil ? ["\(place) is no time"] : []
      default: ["\(place): the keyword \(keyword) is not known to this test"]
      }
    }
  }

  private func reference(_ value: JSONSlice, _ rule: JSONSlice, _ place: String) -> [String] {
    let name = rule.string?.split(separator: "/").last.map(String.init) ?? ""
    guard let schema = document["components"]?["schemas"]?[name] else { return ["\(place): no schema \(name)"] }
    return check(value, schema, place)
  }

  private func others(_ value: JSONSlice, _ rule: JSONSlice, _ schema: JSONSlice, _ place: String) -> [String] {
    let known = Set(schema["properties"]?.members.map(\.name) ?? [])
    return value.members.filter { !known.contains($0.name) }.flatMap { name, member in
      rule.bool == false ? ["\(place).\(name) is not described"] : check(member, rule, "\(place).\(name)")
    }
  }

  private static func isOf(_ type: String, _ value: JSONSlice) -> Bool {
    switch type {
    case "object": value.kind == .object
    case "array": value.kind == .array
    case "string": value.kind == .string
    case "boolean": value.kind == .bool
    case "integer": value.int != nil
    case "number": value.kind == .number
    case "null": value.isNull
    default: false
    }
  }

  private static func equal(_ left: JSONSlice, _ right: JSONSlice) -> Bool {
    left.kind == right.kind && left.bytes.elementsEqual(right.bytes)
  }

  private func text(_ slice: JSONSlice) -> String { String(decoding: slice.bytes, as: UTF8.self) }
}
