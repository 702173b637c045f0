import APNs
import ArgumentParsing
import PabalPrimitives

/// `pabal jwt make`: a provider token for other tools.
enum JWTMake {
  static let definition = CommandDefinition(
    "make", summary: "print the provider token of a key",
    examples: [
      CommandExample(
        "curl --http2 -H \"authorization: bearer $(pabal jwt make --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456)\" …",
        "a request by hand")
    ],
    options: [SendOptions.p8, SendOptions.keyID, SendOptions.team],
    notes: [
      """
      For 50 minutes all pabal commands of a user share one token: APNs answers 429 TooManyProviderTokenUpdates to a
      key that shows up with many. The printed one is good for at least 10 minutes more.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let (credential, warning) = try SendCredential.token(command, environment: context.environment)
    if let warning { context.say("warning: \(warning)") }
    context.output.line(try credential.token(at: context.clock.wall(), unwanted: []).text)
    return .done
  }
}
