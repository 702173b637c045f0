import PabalPrimitives

/// A text with places for values: `{requesterName|truncate:20} asked for “{talentTitle}”.`
///
/// `{name}` is a value; filters follow, in order, behind `|`; `{{` and `}}` are braces. Parsed once, so that a value
/// that looks like a template stays what it is. There is no logic and no HTML.
package struct Template: Sendable, Hashable {
  package enum Filter: Sendable, Hashable {
    /// `default:text` stands in for a missing or empty value.
    case fallback(String)
    /// `truncate:n`: at most n graphemes; a cut text ends with `…`, which counts.
    case truncate(Int)
    /// `number`: digits in groups of three.
    case number
    /// `stars`: so many ⭐.
    case stars
  }

  enum Part: Sendable, Hashable {
    case text(String)
    case value(name: String, filters: [Filter])
  }

  let parts: [Part]

  /// - Throws: `template_invalid` with what is wrong: an open brace, an empty name, a filter that does not exist.
  package init(parsing source: String) throws(NotificationTypeError) {
    var parts: [Part] = []
    var text = ""
    var rest = source[...]
    while let character = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        text.append(character)
        rest = rest.dropFirst(2)
      } else if character == "}" {
        throw NotificationTypeError(.template, "A '}' closes nothing; write '}}' for a brace.")
      } else if character == "{" {
        guard let close = rest.firstIndex(of: "}") else {
          throw NotificationTypeError(.template, "A '{' is never closed; write '{{' for a brace.")
        }
        if !text.isEmpty { parts.append(.text(text)) }
        text = ""
        parts.append(try Self.value(rest[rest.index(after: rest.startIndex)..<close]))
        rest = rest[rest.index(after: close)...]
      } else {
        text.append(character)
        rest = rest.dropFirst()
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    self.parts = parts
  }

  /// The names that the template asks for, in order.
  package var names: [String] {
    parts.compactMap { if case .value(let name, _) = $0 { name } else { nil } }
  }

  /// The names without which it cannot be written: those with no `default`.
  package var requiredNames: [String] {
    parts.compactMap { part in
      guard case .value(let name, let filters) = part else { return nil }
      return filters.contains { if case .fallback = $0 { true } else { false } } ? nil : name
    }
  }

  /// - Parameter escape: applied to each value, not to the template's own text.
  /// - Returns: nil when a value is missing that has no default.
  package func rendered(_ data: [String: TemplateValue], escape: (String) -> String = { $0 }) -> String? {
    var text = ""
    for part in parts {
      switch part {
      case .text(let own): text += own
      case .value(let name, let filters):
        guard let value = Self.filtered(data[name], filters) else { return nil }
        text += escape(value)
      }
    }
    return text
  }

  private static func value(_ source: Substring) throws(NotificationTypeError) -> Part {
    let pieces = source.split(separator: "|", omittingEmptySubsequences: false)
    guard let name = pieces.first, !name.isEmpty,
      name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) })
    else {
      throw NotificationTypeError(.template, "A name in braces has letters and digits only.")
    }
    var filters: [Filter] = []
    for piece in pieces.dropFirst() { filters.append(try filter(piece)) }
    return .value(name: String(name), filters: filters)
  }

  private static func filter(_ source: Substring) throws(NotificationTypeError) -> Filter {
    let colon = source.firstIndex(of: ":")
    let argument = colon.map { source[source.index(after: $0)...] }
    switch (source[..<(colon ?? source.endIndex)], argument) {
    case ("default", .some(let text)): return .fallback(String(text))
    case ("truncate", .some(let digits)):
      guard let count = Int(digits), count > 0 else {
        throw NotificationTypeError(.template, "'truncate' takes a number of characters, 1 or more.")
      }
      return .truncate(count)
    case ("number", .none): return .number
    case ("stars", .none): return .stars
    default:
      throw NotificationTypeError(
        .template, "There is no filter of that form; known: default:text, truncate:n, number, stars.")
    }
  }

  private static func filtered(_ value: TemplateValue?, _ filters: [Filter]) -> String? {
    var value = value
    for filter in filters {
      switch (filter, value) {
      case (.fallback(let text), .none): value = .text(text)
      case (.fallback(let text), .some(let present)): if present.isEmpty { value = .text(text) }
      case (.truncate(let count), .some(let present)): value = .text(truncate(present.text, count))
      case (.number, .number(let number)): value = .text(grouped(number))
      case (.stars, .number(let number)):
        value = .text(String(repeating: "⭐", count: min(max(number, 0), NotificationLimits.stars)))
      default: break
      }
    }
    return value?.text
  }

  private static func truncate(_ text: String, _ count: Int) -> String {
    text.count <= count ? text : String(text.prefix(count - 1)) + "…"
  }

  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }
}
