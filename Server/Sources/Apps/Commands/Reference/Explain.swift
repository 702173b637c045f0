import ArgumentParsing
import PabalModel
import PabalPrimitives
import ServerAPI

/// `pabal explain CODE`: a reason in words.
enum Explain {
  private static let json = OptionDefinition("json", .flag, "as an object, in both languages")

  static let definition = CommandDefinition(
    "explain", summary: "say what a reason means and what to do",
    examples: [
      CommandExample("pabal explain apns.BadDeviceToken", "a word of Apple's"),
      CommandExample("pabal explain reply_lost", "one of ours"),
    ],
    options: [json], operands: [OperandDefinition("CODE", "a reason as outcomes and traces name it")])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let words = command.operands[0]
    let known = ReasonSentence.known
    // Apple's own spelling is what people copy from elsewhere.
    guard let code = known.first(where: { $0.rawValue == words || $0.apnsReason == words }) else {
      let names = known.map(\.rawValue)
      let nearest = NearestWord.find(words, among: names) ?? NearestWord.find("apns." + words, among: names)
      let suggestion = nearest.map { " Did you mean \($0)?" } ?? ""
      throw UsageError(
        "There is no reason '\(words)'.\(suggestion) Outcomes and traces name them as in apns.Unregistered.")
    }
    let sentence = ReasonSentence.of(code)
    guard !command.isSet(json) else {
      let object: JSONValue = [
        "code": .string(code.rawValue),
        "what": ["en": .string(sentence.what.english), "ko": .string(sentence.what.korean)],
        "why": ["en": .string(ReasonSentence.why(code).english), "ko": .string(ReasonSentence.why(code).korean)],
        "do": ["en": .string(sentence.advice.english), "ko": .string(sentence.advice.korean)],
      ]
      context.output.line(object.encodedText)
      return .done
    }
    let inLanguage = { (sentence: Sentence) in context.text(en: sentence.english, ko: sentence.korean) }
    context.output.line(code.rawValue)
    context.output.line("  \(context.text(en: "what", ko: "무엇"))  \(inLanguage(sentence.what))")
    context.output.line("  \(context.text(en: "why ", ko: "까닭"))  \(inLanguage(ReasonSentence.why(code)))")
    context.output.line("  \(context.text(en: "do  ", ko: "할 일"))  \(inLanguage(sentence.advice))")
    return .done
  }
}
