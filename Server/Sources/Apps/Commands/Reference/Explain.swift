import ArgumentParsing
import PabalPrimitives
import ServerAPI

/// `pabal explain CODE`: a reason, a status or an error's code in words.
enum Explain {
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object, in both languages")
  private static let all = OptionDefinition("all", .flag, "every word there is, in a table")

  static let definition = CommandDefinition(
    "explain", summary: "say what a reason, status or error code means and what to do",
    examples: [
      CommandExample("pabal explain apns.BadDeviceToken", "a word of Apple's; BadDeviceToken alone is enough"),
      CommandExample("pabal explain 410", "a status of APNs"),
      CommandExample("pabal explain reply_lost", "one of ours"),
      CommandExample("pabal explain --all", "what there is to ask for"),
    ],
    options: [all, json],
    operands: [
      OperandDefinition(
        "CODE", isRequired: false, "as outcomes, traces and errors name it", choices: Glossary.all.map(\.code))
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    guard !command.isSet(all) else {
      guard command.operands.isEmpty else { throw UsageError("Give CODE or --all, not both.") }
      return try list(command, context)
    }
    guard let word = command.operands.first else {
      throw UsageError("CODE is missing: a word as outcomes, traces and errors name it. --all lists them.")
    }
    guard let entry = Glossary.find(word) else {
      let suggestion = Glossary.nearest(to: word).map { " Did you mean \($0)?" } ?? ""
      throw UsageError("There is no reason '\(word)'.\(suggestion) `pabal explain --all` lists them.")
    }
    guard !command.isSet(json) else {
      try context.show(entry.json, command, json)
      return .done
    }
    show(entry, context)
    return .done
  }

  private static func show(_ entry: GlossaryEntry, _ context: CommandContext) {
    let status = entry.status.flatMap { entry.kind == .status ? nil : "   APNs \($0)" } ?? ""
    context.output.line("\(entry.kind == .status ? "APNs " : "")\(entry.code)\(status)")
    var rows = [
      (context.text(en: "what", ko: "무엇"), context.text(entry.what)),
      (context.text(en: "why", ko: "까닭"), context.text(entry.why)),
      (context.text(en: "fault", ko: "책임"), context.text(entry.owner.sentence)),
      (context.text(en: "do", ko: "할 일"), context.text(entry.advice)),
    ]
    if !entry.related.isEmpty {
      rows.append((context.text(en: "see", ko: "관련"), entry.related.joined(separator: ", ")))
    }
    let width = rows.map { DisplayWidth.of($0.0) }.max() ?? 0
    for (label, text) in rows {
      context.output.line("  \(label)\(String(repeating: " ", count: width - DisplayWidth.of(label) + 2))\(text)")
    }
  }

  private static func list(_ command: ParsedCommand, _ context: CommandContext) throws -> ExitCode {
    guard !command.isSet(json) else {
      try context.show(
        ["object": "list", "data": .array(Glossary.all.map(\.json)), "nextCursor": nil], command, json)
      return .done
    }
    var table = TextTable(["CODE", "KIND", "STATUS", context.text(en: "WHAT", ko: "뜻")])
    for entry in Glossary.all {
      table.add([entry.code, entry.kind.rawValue, entry.status.map(String.init) ?? "-", context.text(entry.what)])
    }
    context.output.text(table.render(for: context.outputTerminal))
    return .done
  }
}
