import ArgumentParsing
package import PabalPrimitives
import ServerAPI

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

  package init(
    environment: [String: String], output: CommandOutput, errors: CommandOutput, outputTerminal: Terminal,
    errorTerminal: Terminal, clock: Clock, randomness: Randomness, signals: SignalWatch
  ) {
    self.environment = environment
    self.output = output
    self.errors = errors
    self.outputTerminal = outputTerminal
    self.errorTerminal = errorTerminal
    language = CommandLanguage(environment: environment)
    self.clock = clock
    self.randomness = randomness
    self.signals = signals
  }

  package static func system(environment: [String: String], signals: SignalWatch) -> CommandContext {
    CommandContext(
      environment: environment, output: .standard, errors: .errors,
      outputTerminal: Terminal(file: 1, environment: environment),
      errorTerminal: Terminal(file: 2, environment: environment),
      clock: .system, randomness: .system, signals: signals)
  }

  /// The same world for `--no-color`.
  var withoutColor: CommandContext {
    CommandContext(
      environment: environment, output: output, errors: errors, outputTerminal: outputTerminal.withoutColor,
      errorTerminal: errorTerminal.withoutColor, clock: clock, randomness: randomness, signals: signals)
  }

  /// Talk: hints and warnings.
  package func say(_ text: String) {
    errors.line(text)
  }

  /// The language's own text.
  package func text(en: String, ko: String) -> String {
    language == .ko ? ko : en
  }

  func text(_ sentence: Sentence) -> String {
    text(en: sentence.english, ko: sentence.korean)
  }

  /// The one object of `--json`, or the fields of it that `--json=FIELDS` names.
  func show(_ object: JSONValue, _ command: ParsedCommand, _ json: OptionDefinition) throws(UsageError) {
    let bytes = object.encoded
    let picked = try command.value(json).map(JSONFields.init)?.pick(from: bytes) ?? bytes
    output.append(picked + [UInt8(ascii: "\n")])
    output.flush()
  }
}
