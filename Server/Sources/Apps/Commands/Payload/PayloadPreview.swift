import APNs
import ArgumentParsing
import PabalPrimitives
import ServerAPI

/// `pabal payload preview`: how a phone shows a payload.
enum PayloadPreview {
  private static let app = OptionDefinition("app", .value("NAME"), "the app's name on the card")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  static let definition = CommandDefinition(
    "preview", summary: "show a payload as a locked phone would",
    examples: [
      CommandExample("pabal payload preview push.json --app \"Talent Market\"", "the card, and what goes with it"),
      CommandExample("PABAL_LANG=ko pabal payload preview push.json", "in Korean"),
    ],
    options: [app, PayloadSource.pushType, json], operands: [PayloadSource.file],
    notes: [
      """
      An approximation: fonts, the user's settings, Focus and the app's own extensions decide what is really seen. A
      title takes one line on the lock screen, a text up to four; the rest is cut here as it is there.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let (root, pushType) = try PayloadSource(command).checked()
    let shown = ShownPush(root, pushType)
    guard !command.isSet(json) else {
      try context.show(shown.json, command, json)
      return .done
    }
    let name = command.value(app) ?? context.text(en: "APP", ko: "앱")
    if shown.hasCard {
      let width = min(PhoneCard.widest, context.outputTerminal.isTerminal ? context.outputTerminal.width : .max)
      let card = PhoneCard(width: width, hasUnicode: context.outputTerminal.hasUnicode)
      for line in card.lines(shown, app: name, now: context.text(en: "now", ko: "지금")) { context.output.line(line) }
    }
    for note in shown.notes { context.output.line(context.text(note)) }
    return .done
  }
}

/// The card of a notification in cells of a terminal.
struct PhoneCard {
  /// About what a phone's lock screen fits of Latin letters.
  static let widest = 48
  private static let narrowest = 16
  /// Lines of text on the lock screen.
  private static let textLines = 4

  private let inner: Int
  private let hasUnicode: Bool

  init(width: Int, hasUnicode: Bool) {
    inner = max(width, Self.narrowest) - 4
    self.hasUnicode = hasUnicode
  }

  func lines(_ push: ShownPush, app: String, now: String) -> [String] {
    let gap = max(1, inner - DisplayWidth.of(app) - DisplayWidth.of(now))
    var lines = [DisplayWidth.cut(app, to: inner - DisplayWidth.of(now) - 1) + String(repeating: " ", count: gap) + now]
    for text in [push.title, push.subtitle].compactMap({ $0 }) { lines.append(DisplayWidth.cut(text, to: inner)) }
    if let body = push.body { lines += Self.wrapped(body, width: inner, limit: Self.textLines) }
    return [edge("┌", "┐")] + lines.map(row) + [edge("└", "┘")]
  }

  private func edge(_ left: String, _ right: String) -> String {
    let line = String(repeating: hasUnicode ? "─" : "-", count: inner + 2)
    return hasUnicode ? left + line + right : "+\(line)+"
  }

  private func row(_ text: String) -> String {
    let bar = hasUnicode ? "│" : "|"
    return "\(bar) \(text)\(String(repeating: " ", count: max(0, inner - DisplayWidth.of(text)))) \(bar)"
  }

  /// Breaks at blanks where there are any, else between graphemes.
  static func wrapped(_ text: String, width: Int, limit: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var rest = paragraph[...]
      repeat {
        let line = head(of: rest, width: width)
        lines.append(String(line))
        rest = rest[line.endIndex...].drop { $0 == " " }
      } while !rest.isEmpty
    }
    guard lines.count > limit else { return lines }
    let last = lines[limit - 1]
    return lines.prefix(limit - 1) + [DisplayWidth.cut(last + "……", to: min(width, DisplayWidth.of(last) + 1))]
  }

  private static func head(of text: Substring, width: Int) -> Substring {
    var used = 0
    var end = text.startIndex
    var lastBlank: Substring.Index?
    while end < text.endIndex {
      used += DisplayWidth.of(text[end])
      guard used <= width else { break }
      if text[end] == " " { lastBlank = end }
      end = text.index(after: end)
    }
    guard end < text.endIndex else { return text }
    // At least one grapheme a line, however narrow.
    if end == text.startIndex { return text.prefix(1) }
    return text[..<(lastBlank.flatMap { $0 > text.startIndex ? $0 : nil } ?? end)]
  }
}
