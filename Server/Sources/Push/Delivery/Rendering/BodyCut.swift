import PabalPrimitives

/// Cuts a text to a number of bytes as JSON writes them, between graphemes only: never half an emoji, never a letter
/// without its mark.
package enum BodyCut {
  static let ellipsis = "…"

  /// - Parameter budget: Bytes for the text between its quotes, escapes and ellipsis included.
  package static func fit(_ text: String, into budget: Int) -> String {
    if size(text) <= budget { return text }
    var left = budget - ellipsis.utf8.count
    var cut = ""
    for character in text {
      let bytes = size(String(character))
      guard bytes <= left else { break }
      left -= bytes
      cut.append(character)
    }
    return cut.isEmpty ? "" : cut + ellipsis
  }

  private static func size(_ text: String) -> Int {
    JSONValue.string(text).encoded.count - 2
  }
}
