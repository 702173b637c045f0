import ArgumentParsing

/// `pabal completion`: what a shell needs to complete verbs and flags.
enum Completion {
  private static let shell = OperandDefinition(
    "SHELL", "bash, zsh or fish", choices: CompletionScript.Shell.allCases.map(\.rawValue))

  static let definition = CommandDefinition(
    "completion", summary: "print a script that completes pabal's verbs and flags in a shell",
    examples: [
      CommandExample("eval \"$(pabal completion bash)\"", "in ~/.bashrc; zsh likewise in ~/.zshrc"),
      CommandExample("pabal completion fish > ~/.config/fish/completions/pabal.fish", "fish"),
    ],
    operands: [shell], notes: ["`make install` puts all three where the shells look for them."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let name = command.operands[0]
    guard let shell = CompletionScript.Shell(rawValue: name) else {
      throw UsageError("There is no completion for '\(name)'. Give bash, zsh or fish.")
    }
    context.output.text(CompletionScript(CommandLineTool.definition).text(for: shell))
    return .done
  }
}
