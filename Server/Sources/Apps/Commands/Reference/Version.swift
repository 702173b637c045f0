import ArgumentParsing
import PabalPrimitives

/// `pabal version`.
enum Version {
  /// Of the server package, its command and the stand-in.
  static let current = "0.1.0"

  private static let json = OptionDefinition("json", .flag, "as an object")
  static let definition = CommandDefinition(
    "version", summary: "print the version", examples: [CommandExample("pabal version", "what is installed")],
    options: [json])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let object: JSONValue = ["version": .string(current)]
    context.output.line(command.isSet(json) ? object.encodedText : "pabal \(current)")
    return .done
  }
}
