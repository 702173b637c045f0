import ArgumentParsing
import ServerAPI

/// `pabal manual`: the reference of commands and of words as Markdown, from the tables that the program obeys.
package enum Manual {
  package enum Page: String, Sendable, CaseIterable {
    case commands, errors
  }

  private static let page = OperandDefinition("PAGE", "commands or errors", choices: Page.allCases.map(\.rawValue))

  static let definition = CommandDefinition(
    "manual", summary: "print the reference of commands or of error codes as Markdown",
    examples: [
      CommandExample("pabal manual commands > cli.md", "every command with its flags"),
      CommandExample("pabal manual errors > errors.md", "every reason, status and error code in two languages"),
    ],
    operands: [page])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let name = command.operands[0]
    guard let page = Page(rawValue: name) else {
      throw UsageError("There is no page '\(name)'. Give commands or errors.")
    }
    context.output.text(text(of: page))
    return .done
  }

  package static func text(of page: Page) -> String {
    switch page {
    case .commands: CommandReference.markdown(of: CommandLineTool.definition, introduction: introduction)
    case .errors: errors
    }
  }

  private static let introduction = """
    # The command line

    Made by `make docs` from the definitions that the program parses by; `pabal COMMAND --help` says the same.

    Data goes to standard output, talk to standard error. `--json` prints objects that are never translated, and
    `--json=FIELD,FIELD` some of their members. Away from a terminal, tables are separated by tabs and whole.
    `PABAL_LANG=ko` or the locale chooses Korean. Colour is for terminals: `--no-color`, `NO_COLOR=1` and `TERM=dumb`
    turn it off, `CLICOLOR_FORCE=1` turns it on.

    | Exit code | Meaning |
    |---|---|
    | 0 | done |
    | 1 | not expected: a fault of ours or of the machine |
    | 2 | wrong usage or invalid input; nothing was sent |
    | 3 | not found |
    | 4 | not signed in, or not allowed |
    | 5 | refused for its state: conflict, count mismatch |
    | 6 | sent, but some were not accepted; `doctor` and `status`: a check failed |
    | 7 | nobody answered: no connection came up |
    | 8 | waiting ran out; work goes on at the server |
    | 130 | interrupted |
    """

  private static var errors: String {
    let reasons = Glossary.reasons.filter { $0.status == nil }
    let apples = Glossary.reasons.filter { $0.status != nil }
    return [
      """
      # Reasons, statuses and error codes

      Made by `make docs` from the tables that `pabal explain CODE` reads. Reasons say why a push ended as it did;
      statuses are those of APNs; error codes name what a command or the API refused.
      """,
      "## Our reasons\n\n" + rows(reasons), "## Apple's reasons\n\n" + rows(apples),
      "## Statuses of APNs\n\n" + rows(Glossary.statuses), "## Error codes\n\n" + rows(ErrorWords.entries),
    ].joined(separator: "\n\n") + "\n"
  }

  private static func rows(_ entries: [GlossaryEntry]) -> String {
    entries.map { entry in
      let status = entry.kind == .reason ? entry.status.map { " (\($0))" } ?? "" : ""
      return """
        ### `\(entry.code)`\(status)

        \(entry.what.english) \(entry.why.english) *\(entry.owner.sentence.english)* **\(entry.advice.english)**

        \(entry.what.korean) \(entry.why.korean) *\(entry.owner.sentence.korean)* **\(entry.advice.korean)**
        """
    }.joined(separator: "\n\n")
  }
}
