/// The text of `--help`: examples first, then what there is.
enum HelpText {
  static func render(_ command: CommandDefinition, path: [String]) -> String {
    let call = (["pabal"] + path).joined(separator: " ")
    var blocks = ["\(call): \(command.summary)"]
    if !command.examples.isEmpty {
      blocks.append(
        "Examples\n" + command.examples.map { "  # \($0.comment)\n  \($0.command)" }.joined(separator: "\n"))
    }
    blocks.append("Usage\n  " + usage(command, call))
    if !command.subcommands.isEmpty {
      blocks.append("Commands\n" + columns(command.subcommands.map { ($0.name, $0.summary) }))
    }
    if !command.operands.isEmpty {
      blocks.append("Words\n" + columns(command.operands.map { ($0.name, $0.help) }))
    }
    if !command.options.isEmpty {
      blocks.append("Flags\n" + columns(command.options.map { (spelling(of: $0), $0.help) }))
    }
    return (blocks + command.notes).joined(separator: "\n\n") + "\n"
  }

  private static func usage(_ command: CommandDefinition, _ call: String) -> String {
    guard command.subcommands.isEmpty else { return "\(call) COMMAND [FLAGS]" }
    let operands = command.operands.map { $0.isRequired ? " \($0.name)" : " [\($0.name)]" }.joined()
    return call + operands + (command.options.isEmpty ? "" : " [FLAGS]")
  }

  private static func spelling(of option: OptionDefinition) -> String {
    let short = option.short.map { "-\($0), " } ?? ""
    switch option.kind {
    case .flag: return "\(short)--\(option.name)"
    case .value(let value): return "\(short)--\(option.name) \(value)"
    case .list(let value): return "\(short)--\(option.name) \(value)…"
    case .optionalValue(let value): return "\(short)--\(option.name)[=\(value)]"
    }
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
