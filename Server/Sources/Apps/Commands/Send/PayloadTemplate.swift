package import ArgumentParsing
package import PabalModel
import PabalPrimitives

/// A payload with `{name}` in its strings, cut at those places once, so that a rendering is a joining of bytes.
///
/// Inside a longer string a variable puts in its text, escaped as JSON; a string that is exactly `{name}` becomes the
/// variable's own JSON value; `{{` is a literal `{`. All else stays byte for byte.
package struct PayloadTemplate: Sendable {
  private enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    /// Inside a string.
    case text(Int)
    /// In place of a string.
    case value(Int)
  }

  private let pieces: [Piece]
  /// The variables, in the order in which they come first.
  package let names: [String]

  /// A name longer than this is a brace that was never closed.
  private static let nameBytes = 128

  /// - Parameter source: checked JSON.
  /// - Throws: `payload_invalid` for a `{` that is neither `{name}` nor `{{`.
  package init(_ source: [UInt8]) throws(UsageError) {
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: source)
    } catch {
      throw UsageError(
        "The payload is not valid JSON: \(error.message) `pabal payload lint` says how to mend it.",
        code: "payload_invalid")
    }
    var cutter = Cutter(source: source)
    try cutter.visit(root)
    pieces = cutter.finished()
    names = cutter.names
  }

  /// Whether some string is replaced by a value, which may be of another kind.
  package var hasValues: Bool {
    pieces.contains { if case .value = $0 { true } else { false } }
  }

  /// The bytes that each rendering has at least.
  package var fixedBytes: Int {
    pieces.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  /// What one rendering came to.
  package enum Rendering: Sendable, Equatable {
    case payload([UInt8])
    case rejected(ReasonCode)
  }

  /// - Parameter values: one JSON value for each of `names`; `nil`: not given.
  package func render(_ values: [[UInt8]?]) -> Rendering {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fixedBytes + 256)
    for piece in pieces {
      switch piece {
      case .bytes(let fixed): bytes += fixed
      case .value(let index):
        guard let value = Self.value(values, index) else { return .rejected(.variableMissing) }
        bytes += value
      case .text(let index):
        guard let value = Self.value(values, index) else { return .rejected(.variableMissing) }
        guard let text = Self.text(value) else { return .rejected(.payloadInvalid) }
        bytes += text
      }
    }
    return .payload(bytes)
  }

  private static func value(_ values: [[UInt8]?], _ index: Int) -> [UInt8]? {
    index < values.count ? values[index] : nil
  }

  /// A string's inside, or the spelling of a number or of true and false; `nil` for what has no text.
  private static func text(_ value: [UInt8]) -> ArraySlice<UInt8>? {
    switch value.first {
    case UInt8(ascii: "\""): value.dropFirst().dropLast()
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "n"), nil: nil
    default: value[...]
    }
  }

  // MARK: - Cutting

  private struct Cutter {
    let source: [UInt8]
    var pieces: [Piece] = []
    var names: [String] = []
    private var open: [UInt8] = []
    private var copied = 0

    init(source: [UInt8]) {
      self.source = source
    }

    mutating func visit(_ value: JSONSlice) throws(UsageError) {
      switch value.kind {
      case .object: for member in value.members { try visit(member.value) }
      case .array: for element in value.elements { try visit(element) }
      case .string: try cut(value.bytes)
      case .number, .bool, .null: break
      }
    }

    mutating func finished() -> [Piece] {
      open += source[copied...]
      close()
      return pieces
    }

    private mutating func close() {
      if !open.isEmpty { pieces.append(.bytes(open)) }
      open = []
    }

    /// - Parameter string: with its quotes; its indices are those of `source`.
    private mutating func cut(_ string: ArraySlice<UInt8>) throws(UsageError) {
      guard string.contains(UInt8(ascii: "{")) else { return }
      let inside = string.dropFirst().dropLast()
      open += source[copied..<string.startIndex]
      copied = string.endIndex
      if let name = try wholeName(inside) {
        close()
        pieces.append(.value(index(of: name)))
        return
      }
      open.append(UInt8(ascii: "\""))
      var position = inside.startIndex
      while position < inside.endIndex {
        guard inside[position] == UInt8(ascii: "{") else {
          open.append(inside[position])
          position += 1
          continue
        }
        if position + 1 < inside.endIndex, inside[position + 1] == UInt8(ascii: "{") {
          open.append(UInt8(ascii: "{"))
          position += 2
          continue
        }
        let (name, end) = try name(in: inside, at: position)
        close()
        pieces.append(.text(index(of: name)))
        position = end
      }
      open.append(UInt8(ascii: "\""))
    }

    private func wholeName(_ inside: ArraySlice<UInt8>) throws(UsageError) -> String? {
      guard inside.first == UInt8(ascii: "{"), inside.dropFirst().first != UInt8(ascii: "{") else { return nil }
      let (name, end) = try name(in: inside, at: inside.startIndex)
      return end == inside.endIndex ? name : nil
    }

    /// The name between the braces, and where the text goes on.
    private func name(in inside: ArraySlice<UInt8>, at brace: Int) throws(UsageError) -> (String, Int) {
      let rest = inside[(brace + 1)...]
      guard let end = rest.prefix(PayloadTemplate.nameBytes + 1).firstIndex(of: UInt8(ascii: "}")) else {
        throw lone(brace)
      }
      let spelled = rest[..<end]
      guard !spelled.isEmpty, !spelled.contains(UInt8(ascii: "{")) else { throw lone(brace) }
      return (unescaped(spelled), end + 1)
    }

    private func unescaped(_ spelled: ArraySlice<UInt8>) -> String {
      guard spelled.contains(UInt8(ascii: "\\")) else { return String(decoding: spelled, as: UTF8.self) }
      do {
        let quote = [UInt8(ascii: "\"")]
        return try JSONSlice(parsing: quote + spelled + quote).string ?? ""
      } catch {
        // A brace inside an escape: the name is no name, and no line will have it.
        return String(decoding: spelled, as: UTF8.self)
      }
    }

    private mutating func index(of name: String) -> Int {
      if let index = names.firstIndex(of: name) { return index }
      names.append(name)
      return names.count - 1
    }

    private func lone(_ position: Int) -> UsageError {
      let before = source[..<position]
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let column = position - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
      return UsageError(
        "The payload has a { without a name and a } at line \(line), column \(column). With a list that has variables, "
          + "write {name} for one and {{ for a brace.", code: "payload_invalid")
    }
  }
}
