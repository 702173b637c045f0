import ArgumentParsing
import Cryptography
import PabalPrimitives

/// `pabal jwt inspect`: what stands in a provider token, how old it is, and what APNs would object to.
enum JWTInspect {
  private static let token = OperandDefinition(
    "FILE", isRequired: false, "file with the token; without it standard input is read")
  private static let key = OptionDefinition("key", .value("FILE"), "the .p8 that should have signed it")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  /// APNs takes headers of some kilobytes at most.
  private static let tokenBytes = 65_536
  private static let keyBytes = 65_536

  static let definition = CommandDefinition(
    "inspect", summary: "read a provider token: claims, age, and what is wrong",
    examples: [
      CommandExample("pabal jwt inspect < token.txt", "with or without `bearer` before it"),
      CommandExample(
        "pabal jwt make --p8 AuthKey_ABC123DEFG.p8 --team TEAM123456 | pabal jwt inspect --key AuthKey_ABC123DEFG.p8",
        "signature checked as well"),
    ],
    options: [key, json], operands: [token],
    notes: [
      """
      The signature is checked with --key only; nothing in the token is believed before that. A token is a secret for an
      hour: give it in a file or by a pipe, not as a word. Exit code 0 when APNs would take it, 2 when not.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let source = command.operands.first ?? "-"
    let bytes = try InputFile.contents(of: source, what: "The token", limit: tokenBytes)
    let publicKey = try command.value(key).map(read)
    let now = context.clock.wall()
    let reading = try ProviderTokenReading(bare(bytes), key: publicKey, now: now)
    if command.isSet(json) {
      try context.show(reading.json, command, json)
    } else {
      show(reading, now, context)
    }
    return reading.problems.isEmpty ? .done : .usage
  }

  private static func read(_ path: String) throws(UsageError) -> P256PublicKey {
    let pem = try InputFile.contents(of: path, what: "The key", limit: keyBytes)
    do {
      return try P256SigningKey(reading: pem).publicKey
    } catch {
      throw UsageError("The key \(path): \(error.message)", code: error.code)
    }
  }

  /// As copied from a header or a log: `authorization: bearer …`.
  private static func bare(_ bytes: [UInt8]) -> String {
    let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" }
    let names = ["authorization:", "bearer"]
    return words.filter { !names.contains($0.lowercased()) }.joined(separator: " ")
  }

  private static func show(_ reading: ProviderTokenReading, _ now: WallTime, _ context: CommandContext) {
    let output = context.output
    for member in reading.header.members + reading.claims.members {
      let text = member.value.string ?? String(decoding: member.value.bytes, as: UTF8.self)
      let note = member.name == "iat" ? reading.issuedAt.map { "   \($0.rfc3339), \(age($0, now, context))" } ?? "" : ""
      output.line("\(member.name)  \(text)\(note)")
    }
    output.line(signature(reading.signature, context))
    for problem in reading.problems {
      output.line("\(context.outputTerminal.mark(.bad)) \(context.text(problem))")
    }
    guard reading.problems.isEmpty else { return }
    context.say(
      context.text(
        en: "Use it for 20 to 60 minutes, then make a new one; many new ones bring TooManyProviderTokenUpdates.",
        ko: "20분에서 60분 동안 쓰고 새로 만드세요. 자주 새로 만들면 TooManyProviderTokenUpdates로 거부됩니다."))
  }

  private static func age(_ issued: WallTime, _ now: WallTime, _ context: CommandContext) -> String {
    let seconds = now.seconds - issued.seconds
    let amount = RoughDuration.text(seconds: abs(seconds), context)
    return seconds >= 0
      ? context.text(en: "\(amount) ago", ko: "\(amount) 전") : context.text(en: "in \(amount)", ko: "\(amount) 후")
  }

  private static func signature(_ state: ProviderTokenReading.Signature, _ context: CommandContext) -> String {
    let terminal = context.outputTerminal
    return switch state {
    case .good:
      context.text(en: "\(terminal.mark(.good)) signature of this key", ko: "\(terminal.mark(.good)) 이 키의 서명입니다")
    case .wrong:
      context.text(en: "\(terminal.mark(.bad)) not this key's signature", ko: "\(terminal.mark(.bad)) 이 키의 서명이 아닙니다")
    case .unchecked:
      context.text(
        en: "\(terminal.mark(.attention)) signature not checked; give the key with --key FILE",
        ko: "\(terminal.mark(.attention)) 서명은 확인하지 않았습니다. --key FILE로 키를 주세요")
    }
  }
}

/// A span in its largest unit: `12 min`.
enum RoughDuration {
  static func text(seconds: Int64, _ context: CommandContext) -> String {
    switch seconds {
    case ..<60: context.text(en: "\(seconds) s", ko: "\(seconds)초")
    case ..<3600: context.text(en: "\(seconds / 60) min", ko: "\(seconds / 60)분")
    case ..<86_400: context.text(en: "\(seconds / 3600) h", ko: "\(seconds / 3600)시간")
    default: context.text(en: "\(seconds / 86_400) days", ko: "\(seconds / 86_400)일")
    }
  }
}
