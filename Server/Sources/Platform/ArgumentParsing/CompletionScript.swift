/// A script that teaches a shell the verbs and flags of a command line.
///
/// What a shell offers comes from the same definitions that the parser obeys; nothing is written down twice.
package struct CompletionScript: Sendable {
  package enum Shell: String, Sendable, CaseIterable {
    case bash, zsh, fish
  }

  /// Placeholders whose value is the name of a file or folder.
  private static let fileWords: Set<String> = ["FILE", "FILE|-", "DIR"]

  let root: CommandDefinition

  package init(_ root: CommandDefinition) {
    self.root = root
  }

  /// The script, to be evaluated by the shell or kept where it looks for completions.
  package func text(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// One verb as a shell sees it.
  struct Stop {
    /// `pabal sim serve`.
    let call: String
    let command: CommandDefinition
    let options: [OptionDefinition]

    /// Verbs, fixed operands and flags, with what they mean.
    var offers: [(word: String, help: String)] {
      command.subcommands.map { ($0.name, $0.summary) }
        + command.operands.flatMap { operand in operand.choices.map { ($0, operand.help) } }
        + options.map { ("--" + $0.name, $0.help) } + [("--help", "what it does and takes")]
    }
  }

  var stops: [Stop] {
    root.all.map { path, command in
      Stop(
        call: ([root.name] + path).joined(separator: " "), command: command,
        options: command.options + root.everywhere)
    }
  }

  /// What may follow a flag.
  enum Value: Equatable {
    case files
    case words([String])
    case free(String)
  }

  /// `nil` when the word after the flag is not its value.
  static func value(of option: OptionDefinition) -> Value? {
    switch option.kind {
    case .flag, .optionalValue: nil
    case .value(let word), .list(let word):
      if !option.choices.isEmpty {
        .words(option.choices)
      } else {
        fileWords.contains(word) ? .files : .free(word)
      }
    }
  }

  static func spellings(of option: OptionDefinition) -> [String] {
    ["--" + option.name] + (option.short.map { ["-\($0)"] } ?? [])
  }

  /// Calls with a flag, by what may follow: `pabal send --p8`.
  func flagCalls(_ isWanted: (Value) -> Bool) -> [(calls: [String], value: Value)] {
    stops.flatMap { stop in
      stop.options.compactMap { option in
        guard let value = Self.value(of: option), isWanted(value) else { return nil }
        return (Self.spellings(of: option).map { "\(stop.call) \($0)" }, value)
      }
    }
  }

  /// In single quotes, for a POSIX shell.
  static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// `'a' | 'b'` for a `case`, one a line; none matches nothing.
  static func pattern(_ words: [String]) -> String {
    (words.isEmpty ? [""] : words).map(quoted).joined(separator: " | \\\n      ")
  }
}
