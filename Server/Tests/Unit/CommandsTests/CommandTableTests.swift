import ArgumentParsing
import Commands
import Testing

/// What must hold for every verb alike.
@Suite struct CommandTableTests {
  private static let verbs = CommandLineTool.definition.all.filter { $0.command.subcommands.isEmpty }.map(\.path)
  private static let groups = CommandLineTool.definition.all.filter { !$0.command.subcommands.isEmpty }.map(\.path)

  private static func definition(_ path: [String]) -> CommandDefinition? {
    CommandLineTool.definition.all.first { $0.path == path }?.command
  }

  @Test(arguments: verbs + groups)
  func helpEndsWithZeroAndShowsAnExample(path: [String]) async throws {
    let result = try await CapturedCommand.run(path + ["--help"])
    #expect(result.code == .done)
    #expect(result.errors.isEmpty)
    #expect(result.output.hasPrefix((["pabal"] + path).joined(separator: " ") + ": "))
    let command = try #require(Self.definition(path))
    if command.subcommands.isEmpty {
      #expect(!command.examples.isEmpty)
      #expect(result.output.contains("\n\nExamples\n"))
      for option in command.options { #expect(result.output.contains("--\(option.name)")) }
    } else {
      for child in command.subcommands { #expect(result.output.contains("\n  \(child.name)")) }
    }
  }

  @Test(arguments: verbs)
  func anUnknownFlagEndsWithTwoAndNamesTheRemedy(path: [String]) async throws {
    let result = try await CapturedCommand.run(path + ["--frobnicate"])
    #expect(result.code == .usage)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("Unknown flag --frobnicate."))
    #expect(result.errors.contains("`pabal \((path + ["--help"]).joined(separator: " "))` lists them."))
  }

  @Test(arguments: verbs)
  func aMisspeltFlagIsRecognised(path: [String]) async throws {
    let command = try #require(Self.definition(path))
    guard let option = command.options.first(where: { $0.name.count > 4 }) else { return }
    let misspelt = "--" + option.name.dropLast(2) + String(option.name.suffix(2).reversed()) + "x"
    let result = try await CapturedCommand.run(path + [misspelt])
    #expect(result.code == .usage)
    #expect(result.errors.contains("Did you mean --"), "\(misspelt): \(result.errors)")
  }

  @Test(arguments: verbs)
  func namesOfFlagsAreUniqueAndPlain(path: [String]) throws {
    let command = try #require(Self.definition(path))
    let names = command.options.map(\.name)
    #expect(Set(names).count == names.count)
    let shorts = command.options.compactMap(\.short)
    #expect(Set(shorts).count == shorts.count)
    for option in command.options {
      #expect(option.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(option.name)")
      #expect(!option.help.isEmpty && !option.help.contains("\n"))
      #expect(!command.plannedOptions.contains(option.name), "\(option.name) is built and planned")
    }
  }

  @Test(arguments: verbs)
  func examplesAreCommandLinesThatParse(path: [String]) throws {
    let command = try #require(Self.definition(path))
    var parsed = 0
    for example in command.examples {
      for words in ShellWords.calls(of: "pabal", in: example.command) {
        guard case .run(let request) = try CommandParser(CommandLineTool.definition).parse(words) else { continue }
        if request.path == path { parsed += 1 }
      }
    }
    #expect(parsed >= 1, "no example of \(path) calls it")
  }

  @Test func anUnknownVerbEndsWithTwo() async throws {
    let result = try await CapturedCommand.run(["paylod", "lint"])
    #expect(result.code == .usage)
    #expect(result.errors.contains("Did you mean `pabal payload`?"))
  }

  @Test func theManualHasEveryVerbAndFlag() {
    let text = Manual.text(of: .commands)
    for path in Self.verbs {
      #expect(text.contains("\n## pabal \(path.joined(separator: " "))\n"))
      for option in Self.definition(path)?.options ?? [] { #expect(text.contains("--\(option.name)")) }
    }
  }
}

/// Just enough of a shell to read examples: quotes, continued lines, substitutions and where a command ends.
enum ShellWords {
  /// The words of each call of `program`, its own name left out; an ellipsis stands for what the reader fills in.
  static func calls(of program: String, in text: String) -> [[String]] {
    var commands: [[String]] = [[]]
    var word = ""
    var isWord = false
    var quote: Character?
    func endWord() {
      if isWord { commands[commands.count - 1].append(word) }
      word = ""
      isWord = false
    }
    var rest = text.split(separator: "\\\n", omittingEmptySubsequences: false).joined()[...]
    while let character = rest.popFirst() {
      if rest.hasPrefix("("), character == "$", quote != "'" {
        // The call inside a substitution counts as a command of its own.
        let inner = rest.dropFirst().prefix { $0 != ")" }
        commands.insert(contentsOf: calls(of: program, in: String(inner)).map { [program] + $0 }, at: 0)
        rest = rest[inner.endIndex...].dropFirst()
        isWord = true
        continue
      }
      switch (quote, character) {
      case (let open?, _) where open == character: quote = nil
      case (.some, _): word.append(character)
      case (nil, "'"), (nil, "\""):
        quote = character
        isWord = true
      case (nil, " "), (nil, "\n"): endWord()
      case (nil, "|"), (nil, "&"), (nil, ";"):
        endWord()
        commands.append([])
      case (nil, ">"), (nil, "<"):
        endWord()
        rest = rest.drop { $0 == " " }.drop { $0 != " " && $0 != "|" }
      default:
        word.append(character)
        isWord = true
      }
    }
    endWord()
    return commands.compactMap { words in
      guard let start = words.firstIndex(of: program) else { return nil }
      return words[(start + 1)...].filter { $0 != "…" }
    }
  }
}
