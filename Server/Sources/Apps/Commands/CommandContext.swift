package import PabalPrimitives

/// The world as a command sees it; one value, made in `main`.
package struct CommandContext: Sendable {
  package let environment: [String: String]
  package let output: CommandOutput
  package let errors: CommandOutput
  package let outputTerminal: Terminal
  package let errorTerminal: Terminal
  package let language: CommandLanguage
  package let clock: Clock
  package let randomness: Randomness
  package let signals: SignalWatch

  package static func system(environment: [String: String], signals: SignalWatch) -> CommandContext {
    CommandContext(
      environment: environment, output: .standard, errors: .errors,
      outputTerminal: Terminal(file: 1, environment: environment),
      errorTerminal: Terminal(file: 2, environment: environment),
      language: CommandLanguage(environment: environment), clock: .system, randomness: .system, signals: signals)
  }

  /// Talk: hints and warnings.
  package func say(_ text: String) {
    errors.line(text)
  }

  /// The language's own text.
  package func text(en: String, ko: String) -> String {
    language == .ko ? ko : en
  }
}
