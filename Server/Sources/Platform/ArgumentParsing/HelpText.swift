/// The text of `--help`: examples first, then what there is.
enum HelpText {
  static func render(_ command: CommandDefinition, path: [String], everywhere: [OptionDefinition]) -> String {
    let call = (["pabal"] + path).joined(separator: " ")
    var blocks = ["\(call): \(command.summary)"]
    if !command.examples.isEmpty {
      blocks.append(
        "Examples\n" + command.examples.map { "  # \($0.comment)\n  \($0.command)" }.joined(separator: "\n"))
    }
    blocks.append("Usage\n  " + command.usage(call))
    if !command.subcommands.isEmpty {
      blocks.append("Commands\n" + columns(command.subcommands.map { ($0.name, $0.summary) }))
    }
    if !command.operands.isEmpty {
      blocks.append("Words\n" + columns(command.operands.map { ($0.name, $0.help) }))
    }
    if !command.options.isEmpty {
      blocks.append("Flags\n" + columns(command.options.map { ($0.spelling, $0.help) }))
    }
    if !everywhere.isEmpty {
      blocks.append("Everywhere\n" + columns(everywhere.map { ($0.spelling, $0.help) }))
    }
    return (blocks + command.notes).joined(separator: "\n\n") + "\n"
  }

  /// Two columns; where the first is too wide, the second starts on the next line.
  private static func columns(_ rows: [(String, String)]) -> String {
    let widest = 26
    return rows.map { name, help in
      guard name.count <= widest else { return "  \(name)\n" + String(repeating: " ", count: widest + 4) + help }
      return "  \(name)" + String(repeating: " ", count: widest + 2 - name.count) + help
    }.joined(separator: "\n")
  }
}
