/// Reads a command line by its definition. Pure: words in, a value out.
package struct CommandParser: Sendable {
  package enum Request: Sendable {
    case run(ParsedCommand)
    /// Somebody asked for help; the text goes to standard output.
    case help(String)
  }

  private let root: CommandDefinition

  package init(_ root: CommandDefinition) {
    self.root = root
  }

  /// - Parameter words: without the name of the program.
  /// - Throws: `usage`, with the nearest known word where there is one.
  package func parse(_ words: [String]) throws(UsageError) -> Request {
    var command = root
    var path: [String] = []
    var rest = words[...]
    var values: [String: [String]] = [:]
    while !command.subcommands.isEmpty {
      guard let word = rest.first else {
        guard path.isEmpty else { throw UsageError(missingVerb(of: command, path)) }
        return .help(help(root, path))
      }
      if Self.asksForHelp(word) { return .help(help(command, path)) }
      if let option = root.everywhere.first(where: { "--" + $0.name == word }) {
        values[option.name] = []
        rest = rest.dropFirst()
        continue
      }
      guard let next = command.subcommands.first(where: { $0.name == word }) else {
        throw UsageError(unknownVerb(word, of: command, path))
      }
      rest = rest.dropFirst()
      path.append(word)
      command = next
    }
    if rest.prefix(while: { $0 != "--" }).contains(where: Self.asksForHelp) {
      return .help(help(command, path))
    }
    return .run(try parseOptions(rest, of: command, path: path, values))
  }

  private func help(_ command: CommandDefinition, _ path: [String]) -> String {
    HelpText.render(command, path: path, everywhere: root.everywhere)
  }

  private func parseOptions(
    _ words: ArraySlice<String>, of command: CommandDefinition, path: [String], _ earlier: [String: [String]]
  ) throws(UsageError) -> ParsedCommand {
    var values = earlier
    var operands: [String] = []
    var rest = words
    var onlyOperands = false
    while let word = rest.popFirst() {
      guard !onlyOperands, word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      guard word != "--" else {
        onlyOperands = true
        continue
      }
      let (option, inline) = try find(word, in: command, path)
      try take(option, inline: inline, from: &rest, into: &values)
    }
    try checkOperands(operands, of: command)
    return ParsedCommand(path: path, definition: command, operands: operands, values: values)
  }

  private func take(
    _ option: OptionDefinition, inline: String?, from rest: inout ArraySlice<String>,
    into values: inout [String: [String]]
  ) throws(UsageError) {
    switch option.kind {
    case .flag:
      guard inline == nil else { throw UsageError("--\(option.name) takes no value.") }
      values[option.name] = []
    case .optionalValue:
      values[option.name] = inline.map { [$0] } ?? []
    case .value(let placeholder):
      guard values[option.name] == nil else { throw UsageError("--\(option.name) was given twice. Give it once.") }
      guard let value = inline ?? rest.popFirst() else {
        throw UsageError("--\(option.name) needs a value: --\(option.name) \(placeholder).")
      }
      values[option.name] = [value]
    case .list(let placeholder):
      var found = inline.map { [$0] } ?? []
      while let next = rest.first, !next.hasPrefix("-") {
        found.append(next)
        rest = rest.dropFirst()
      }
      guard !found.isEmpty else {
        throw UsageError("--\(option.name) needs a value: --\(option.name) \(placeholder).")
      }
      values[option.name, default: []] += found
    }
  }

  private func find(
    _ word: String, in command: CommandDefinition, _ path: [String]
  ) throws(UsageError) -> (OptionDefinition, String?) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    let inline = parts.count > 1 ? parts[1] : nil
    let options = command.options + root.everywhere
    if name.hasPrefix("--") {
      if let option = options.first(where: { "--" + $0.name == name }) { return (option, inline) }
    } else if name.count == 2, let letter = name.last {
      if let option = options.first(where: { $0.short == letter }) { return (option, inline) }
    }
    guard !command.plannedOptions.contains(where: { "--" + $0 == name }) else {
      throw UsageError("\(name) is not built yet; leave it out.")
    }
    let help = "`pabal \((path + ["--help"]).joined(separator: " "))` lists them."
    let nearest = NearestWord.find(name, among: options.map { "--" + $0.name })
    throw UsageError("Unknown flag \(name). " + (nearest.map { "Did you mean \($0)? " } ?? "") + help)
  }

  private func checkOperands(_ operands: [String], of command: CommandDefinition) throws(UsageError) {
    if operands.count > command.operands.count {
      let surplus = operands[command.operands.count]
      throw UsageError(
        "'\(surplus)' is one word too many. A text with blanks needs quotes; a value needs its flag before it.")
    }
    if operands.count < command.operands.count, command.operands[operands.count].isRequired {
      let missing = command.operands[operands.count]
      throw UsageError("\(missing.name) is missing. It means: \(missing.help)")
    }
  }

  private func unknownVerb(_ word: String, of command: CommandDefinition, _ path: [String]) -> String {
    let call = (["pabal"] + path).joined(separator: " ")
    if word.hasPrefix("-") {
      return "Unknown flag \(word): a verb comes first. `\(call) --help` lists the verbs."
    }
    guard !command.plannedSubcommands.contains(word) else {
      return "`\(call) \(word)` is not built yet. `\(call) --help` lists what is."
    }
    let nearest = NearestWord.find(word, among: command.subcommands.map(\.name))
    let suggestion = nearest.map { "Did you mean `\(call) \($0)`? " } ?? ""
    return "Unknown command `\(call) \(word)`. \(suggestion)`\(call) --help` lists the commands."
  }

  private func missingVerb(of command: CommandDefinition, _ path: [String]) -> String {
    let call = (["pabal"] + path).joined(separator: " ")
    return "`\(call)` needs one more word: \(command.subcommands.map(\.name).joined(separator: ", "))."
  }

  private static func asksForHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }
}
