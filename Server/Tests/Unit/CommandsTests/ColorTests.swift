import ArgumentParsing
import Commands
import Testing

/// When a terminal gets colour.
@Suite struct ColorTests {
  private static let colorful = Terminal(isTerminal: true, hasColor: true)

  @Test(arguments: [
    ["devices", "check-token", "--no-color", "(null)"], ["--no-color", "devices", "check-token", "(null)"],
    ["devices", "--no-color", "check-token", "(null)"],
  ])
  func aFlagTurnsItOffForEveryVerb(words: [String]) async throws {
    let colored = try await CapturedCommand.run(words.filter { $0 != "--no-color" }, terminal: Self.colorful)
    #expect(colored.output.hasPrefix("\u{1B}[31m✗\u{1B}[0m "))
    let plain = try await CapturedCommand.run(words, terminal: Self.colorful)
    #expect(plain.output.hasPrefix("✗ "))
    #expect(!plain.output.contains("\u{1B}"))
    #expect(plain.code == colored.code)
  }

  @Test(
    arguments: [
      ([:], false), (["CLICOLOR_FORCE": "1"], true), (["CLICOLOR_FORCE": "0"], false), (["NO_COLOR": "1"], false),
      (["TERM": "dumb"], false),
    ] as [([String: String], Bool)])
  func theEnvironmentDecidesWithoutIt(environment: [String: String], isColored: Bool) {
    // Descriptor -1 is no terminal.
    let terminal = Terminal(file: -1, environment: environment)
    #expect(terminal.hasColor == isColored)
    #expect(!terminal.withoutColor.hasColor)
  }

  @Test func itIsAFlagWithoutAValueThatHelpTellsOf() async throws {
    #expect(try await CapturedCommand.run(["version", "--no-color=1"]).errors.contains("takes no value"))
    #expect(try await CapturedCommand.run(["version", "--no-colour"]).errors.contains("Did you mean --no-color?"))
    for words in [["--help"], ["sim", "--help"], ["send", "--help"], ["--no-color"]] {
      #expect(try await CapturedCommand.run(words).output.contains("\n\nEverywhere\n  --no-color"))
    }
    for shell in CompletionScript.Shell.allCases {
      let script = CompletionScript(CommandLineTool.definition).text(for: shell)
      #expect(script.contains("no-color"))
    }
  }
}
