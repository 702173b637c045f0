package import PabalPrimitives

/// A value that a caller gives for a parameter. It becomes text and is never read as a template.
package enum TemplateValue: Sendable, Hashable {
  case text(String)
  case number(Int)
  case flag(Bool)

  /// nil for arrays, objects, fractions and null.
  package init?(_ slice: JSONSlice) {
    if let text = slice.string {
      self = .text(text)
    } else if let number = slice.int {
      self = .number(number)
    } else if let flag = slice.bool {
      self = .flag(flag)
    } else {
      return nil
    }
  }

  var text: String {
    switch self {
    case .text(let text): text
    case .number(let number): String(number)
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  var isEmpty: Bool {
    if case .text(let text) = self { return text.isEmpty }
    return false
  }
}
