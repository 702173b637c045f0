/// The manual of a command line as Markdown, from the definitions that the parser obeys.
package enum CommandReference {
  /// - Parameter introduction: paragraphs before the first verb.
  package static func markdown(of root: CommandDefinition, introduction: String) -> String {
    let verbs = root.all.dropFirst().filter { $0.command.subcommands.isEmpty }
    let list = verbs.map { verb in
      let call = name(root, verb.path)
      return "| [`\(call)`](#\(anchor(call))) | \(cell(verb.command.summary)) |"
    }
    let sections = verbs.map { section(name(root, $0.path), $0.command) }
    return ([introduction, table(["Command", "What it does"], list)] + sections).joined(separator: "\n\n") + "\n"
  }

  private static func section(_ call: String, _ command: CommandDefinition) -> String {
    var blocks = ["## \(call)", sentence(command.summary)]
    let examples = command.examples.map { "# \($0.comment)\n\($0.command)" }.joined(separator: "\n")
    blocks.append("```sh\n\(examples)\n```")
    blocks.append("Usage: `\(command.usage(call))`")
    if !command.operands.isEmpty {
      blocks.append(table(["Word", "Meaning"], command.operands.map { "| `\(cell($0.name))` | \(cell($0.help)) |" }))
    }
    if !command.options.isEmpty {
      blocks.append(
        table(["Flag", "Meaning"], command.options.map { "| `\(cell($0.spelling))` | \(cell($0.help)) |" }))
    }
    return (blocks + command.notes.map(note)).joined(separator: "\n\n")
  }

  /// A note that is laid out by hand keeps its lines.
  private static func note(_ text: String) -> String {
    text.contains("\n  ") ? "```\n\(text)\n```" : text
  }

  private static func name(_ root: CommandDefinition, _ path: [String]) -> String {
    ([root.name] + path).joined(separator: " ")
  }

  private static func anchor(_ call: String) -> String {
    call.lowercased().map { $0 == " " ? "-" : String($0) }.joined()
  }

  private static func sentence(_ summary: String) -> String {
    summary.prefix(1).uppercased() + summary.dropFirst() + "."
  }

  private static func table(_ header: [String], _ rows: [String]) -> String {
    let head = "| \(header.joined(separator: " | ")) |\n|\(String(repeating: "---|", count: header.count))"
    return ([head] + rows).joined(separator: "\n")
  }

  /// A bar would end the cell, also inside code.
  private static func cell(_ text: String) -> String {
    text.map { $0 == "|" ? "\\|" : String($0) }.joined()
  }
}
