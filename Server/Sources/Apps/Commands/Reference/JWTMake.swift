import APNs
import ArgumentParsing
import PabalPrimitives

/// `pabal jwt make`: a provider token for other tools.
enum JWTMake {
  static let definition = CommandDefinition(
    "make", summary: "print a provider token, good for an hour",
    examples: [
      CommandExample(
        "curl --http2 -H \"authorization: bearer $(pabal jwt make --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456)\" …",
        "a request by hand")
    ],
    options: [SendOptions.p8, SendOptions.keyID, SendOptions.team],
    notes: ["Do not make many: APNs answers 429 TooManyProviderTokenUpdates to more than one new token in 20 minutes."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let (credential, warning) = try SendCredential.read(command)
    if let warning { context.say("warning: \(warning)") }
    context.output.line(try ProviderToken.mint(for: credential, issuedAt: context.clock.wall()))
    return .done
  }
}
