import ArgumentParsing
import Testing

@Suite struct CompletionScriptTests {
  private static let root = CommandDefinition(
    "relay", summary: "the tool",
    subcommands: [
      CommandDefinition(
        "send", summary: "it's one push",
        options: [
          OptionDefinition("key", .value("FILE"), "the key"),
          OptionDefinition("place", short: "p", .value("NAME"), "a: or b", choices: ["north", "south"]),
          OptionDefinition("title", .value("TEXT"), "the user's title"),
          OptionDefinition("json", .optionalValue("FIELDS"), "objects"),
          OptionDefinition("dry-run", .flag, "nothing"),
        ]),
      CommandDefinition(
        "show", summary: "a page",
        subcommands: [
          CommandDefinition(
            "page", summary: "one", operands: [OperandDefinition("WORD", "which", choices: ["x", "y"])])
        ]),
    ])

  @Test(arguments: CompletionScript.Shell.allCases)
  func everyVerbFlagAndChoiceOccurs(shell: CompletionScript.Shell) {
    let text = CompletionScript(Self.root).text(for: shell)
    let flag = { (name: String) in shell == .fish ? "-l \(name)" : "--\(name)" }
    for (_, command) in Self.root.all {
      for child in command.subcommands { #expect(text.contains(child.name)) }
      for option in command.options { #expect(text.contains(flag(option.name)), "\(option.name)") }
      #expect(text.contains(flag("help")))
    }
    for word in ["north", "south"] { #expect(text.contains(word)) }
  }

  @Test func quotesAreEscapedInEachShell() {
    let script = CompletionScript(Self.root)
    #expect(script.text(for: .zsh).contains("'send:it'\\''s one push'"))
    #expect(script.text(for: .zsh).contains("'--title:the user'\\''s title'"))
    #expect(script.text(for: .fish).contains("-d 'it\\'s one push'"))
  }

  @Test func filesAreLeftToTheShellAndFlagsTakeNoValue() {
    let fish = CompletionScript(Self.root).text(for: .fish)
    #expect(fish.contains("-l key -r -F"))
    #expect(fish.contains("-s p -l place -x -a 'north south'"))
    #expect(fish.contains("-l title -x"))
    #expect(fish.contains("-l dry-run -d"))
    #expect(fish.contains("-l json -d"))
  }

  @Test func theReferenceHasEveryVerbAndFlag() {
    let text = CommandReference.markdown(of: Self.root, introduction: "# The tool")
    #expect(text.hasPrefix("# The tool\n\n| Command |"))
    #expect(text.contains("| [`relay show page`](#relay-show-page) | one |"))
    #expect(text.contains("## relay send\n\nIt's one push."))
    #expect(text.contains("| `-p, --place NAME` | a: or b |"))
    #expect(text.contains("| `--json[=FIELDS]` | objects |"))
    #expect(!text.contains("## relay show\n"))
  }
}
