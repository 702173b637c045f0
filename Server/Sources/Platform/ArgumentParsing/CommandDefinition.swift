/// One verb of a command line: what it is called, what it takes, how it is explained.
package struct CommandDefinition: Sendable {
  package let name: String
  /// One line, without a full stop, for the list of verbs.
  package let summary: String
  /// Shown first in the help: what people copy.
  package let examples: [CommandExample]
  package let options: [OptionDefinition]
  /// On the root: what every verb takes besides its own; flags without a value, before the verb too.
  package let everywhere: [OptionDefinition]
  package let operands: [OperandDefinition]
  package let subcommands: [CommandDefinition]
  /// Verbs below this one that people will look for and that do not exist yet: refused by name.
  package let plannedSubcommands: [String]
  /// Flags, without hyphens, likewise.
  package let plannedOptions: [String]
  /// Paragraphs after the options, e.g. the meaning of exit codes.
  package let notes: [String]

  package init(
    _ name: String, summary: String, examples: [CommandExample] = [], options: [OptionDefinition] = [],
    everywhere: [OptionDefinition] = [], operands: [OperandDefinition] = [], subcommands: [CommandDefinition] = [],
    plannedSubcommands: [String] = [], plannedOptions: [String] = [], notes: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.examples = examples
    self.options = options
    self.everywhere = everywhere
    self.operands = operands
    self.subcommands = subcommands
    self.plannedSubcommands = plannedSubcommands
    self.plannedOptions = plannedOptions
    self.notes = notes
  }
}

/// A command line as a user would type it, and what it is good for. Shown by `--help`.
package struct CommandExample: Sendable {
  package let command: String
  package let comment: String

  package init(_ command: String, _ comment: String) {
    self.command = command
    self.comment = comment
  }
}

/// A flag, with or without a value.
package struct OptionDefinition: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// Present or not.
    case flag
    /// `--name VALUE` or `--name=VALUE`, once.
    case value(String)
    /// Any number of times, and any number of values each time: `--device A B --device C`.
    case list(String)
    /// `--name` alone, or with a value as `--name=VALUE` only.
    case optionalValue(String)
  }

  /// Without the two hyphens.
  package let name: String
  /// One letter, for `-t`.
  package let short: Character?
  package let kind: Kind
  package let help: String
  /// Values that a shell offers; others may be allowed too.
  package let choices: [String]

  package init(
    _ name: String, short: Character? = nil, _ kind: Kind, _ help: String, choices: [String] = []
  ) {
    self.name = name
    self.short = short
    self.kind = kind
    self.help = help
    self.choices = choices
  }

  /// What stands for the value in help; `nil` for a flag.
  package var placeholder: String? {
    switch kind {
    case .flag: nil
    case .value(let word), .list(let word), .optionalValue(let word): word
    }
  }

  /// As help and reference show it: `-t, --title TEXT`.
  package var spelling: String {
    let start = short.map { "-\($0), " } ?? ""
    return switch kind {
    case .flag: "\(start)--\(name)"
    case .value(let word): "\(start)--\(name) \(word)"
    case .list(let word): "\(start)--\(name) \(word)…"
    case .optionalValue(let word): "\(start)--\(name)[=\(word)]"
    }
  }
}

/// A word without hyphens, by position.
package struct OperandDefinition: Sendable, Hashable {
  package let name: String
  package let isRequired: Bool
  package let help: String
  /// Words that a shell offers; others may be allowed too.
  package let choices: [String]

  package init(_ name: String, isRequired: Bool = true, _ help: String, choices: [String] = []) {
    self.name = name
    self.isRequired = isRequired
    self.help = help
    self.choices = choices
  }
}

extension CommandDefinition {
  /// Every verb with its words from below the root, e.g. `["jwt", "make"]`; groups come before what they hold.
  package var all: [(path: [String], command: CommandDefinition)] {
    [([], self)]
      + subcommands.flatMap { child in child.all.map { ([child.name] + $0.path, $0.command) } }
  }

  /// `pabal send [FLAGS]`; `call` is the verb with the program's name before it.
  package func usage(_ call: String) -> String {
    guard subcommands.isEmpty else { return "\(call) COMMAND [FLAGS]" }
    let words = operands.map { $0.isRequired ? " \($0.name)" : " [\($0.name)]" }.joined()
    return call + words + (options.isEmpty ? "" : " [FLAGS]")
  }
}
