import ArgumentParsing
import PabalModel
import PabalPrimitives
import ServerAPI

/// `pabal devices check-token`: whether a text is a device token, and if not, which mistake it is.
enum CheckToken {
  private static let token = OperandDefinition(
    "TOKEN", isRequired: false, "what the app or a database gave you; without it standard input is read")
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  /// The longest text that is looked at: a token in any spelling, and room for what is none.
  private static let inputBytes = 65_536

  static let definition = CommandDefinition(
    "check-token", summary: "say whether a text is a device token, and what it is if not",
    examples: [
      CommandExample(
        "pabal devices check-token '{length = 32, bytes = 0x740f4707 bebcf74f ... 77b6 4bad }'", "a classic mistake"),
      CommandExample("pabal devices check-token < token.txt", "from a file"),
    ],
    options: [json], operands: [token],
    notes: [
      """
      Works offline: whether APNs knows the token is another matter. Its length is not judged, since Apple promises
      none. Exit code 0 for a token, 2 for anything else.
      """
    ])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let text: String
    if let word = command.operands.first, word != "-" {
      text = word
    } else {
      let bytes = try InputFile.contents(of: "-", what: "The token", limit: inputBytes)
      text = String(decoding: bytes, as: UTF8.self)
    }
    let token: DeviceToken
    do throws(DeviceTokenError) {
      token = try DeviceToken(parsing: text)
    } catch {
      return try refuse(error, text, command, context)
    }
    return try accept(token, text, command, context)
  }

  private static func accept(
    _ token: DeviceToken, _ text: String, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> ExitCode {
    let wasRewritten = text != token.hex
    if command.isSet(json) {
      let object: JSONValue = [
        "object": "token_check", "valid": true, "token": .string(token.hex), "bytes": JSONValue(token.bytes.count),
        "rewritten": .bool(wasRewritten), "mistake": nil,
      ]
      try context.show(object, command, json)
      return .done
    }
    let mark = context.outputTerminal.mark(.good)
    context.output.line(
      context.text(
        en: "\(mark) A device token of \(token.bytes.count) bytes: \(token.redacted)",
        ko: "\(mark) \(token.bytes.count)바이트 기기 토큰입니다: \(token.redacted)"))
    if wasRewritten {
      context.output.line(
        context.text(
          en: "  Upper case, brackets or blanks were taken off; --json shows the plain form.",
          ko: "  대문자, 괄호, 공백을 정리했습니다. --json으로 정리된 값을 볼 수 있습니다."))
    }
    return .done
  }

  private static func refuse(
    _ error: DeviceTokenError, _ text: String, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> ExitCode {
    let words = TokenMistake.words(error, text)
    if command.isSet(json) {
      let object: JSONValue = [
        "object": "token_check", "valid": false, "token": nil, "bytes": nil, "rewritten": false,
        "mistake": .string(error.kind.rawValue),
        "message": ["en": .string(words.english), "ko": .string(words.korean)],
      ]
      try context.show(object, command, json)
    } else {
      context.output.line("\(context.outputTerminal.mark(.bad)) \(context.text(words))")
    }
    return .usage
  }
}

/// What each mistake is called, and how it is mended.
enum TokenMistake {
  static func words(_ error: DeviceTokenError, _ text: String) -> Sentence {
    let cut = error.kind == .dataDescription && (text.contains("...") || text.contains("…"))
    return Sentence(
      cut ? "The middle is cut off (\"...\"), so it cannot be restored. \(error.message)" : error.message,
      (cut ? "가운데가 \"...\"로 잘려 있어 되살릴 수 없습니다. " : "") + korean(error.kind))
  }

  private static func korean(_ kind: DeviceTokenError.Kind) -> String {
    switch kind {
    case .empty: "토큰이 비어 있습니다. 시스템이 앱에 토큰을 준 다음에 등록하세요."
    case .placeholder: "값이 없다는 뜻의 단어일 뿐 토큰이 아닙니다. 시스템이 앱에 토큰을 준 다음에 등록하세요."
    case .dataDescription:
      "Data 객체를 출력한 글이며 토큰이 아닙니다. Swift에서는 deviceToken.map { String(format: \"%02x\", $0) }.joined()"
    case .fcmToken: "FCM 등록 토큰으로 보입니다. 앱 델리게이트가 받는 APNs 토큰을 보내세요."
    case .address: "토큰이 아니라 주소입니다. 토큰만 보내세요. Web Push 주소는 다른 제공자의 것입니다."
    case .uuid: "identifierForVendor 같은 UUID이며 토큰이 아닙니다. 시스템이 앱 델리게이트에 주는 값을 보내세요."
    case .prefixed: "기기 토큰은 0x 없이 씁니다. 어떤 글자도 지우지 않았습니다."
    case .innerSpace: "줄바꿈 등 토큰 가운데에 공백이 있습니다. 어떤 글자도 지우지 않았으니 붙여서 보내세요."
    case .base64: "base64로 보입니다. 바이트마다 16진수 두 자리로 보내세요."
    case .notHexadecimal: "기기 토큰에는 16진수(0-9, a-f)만 있습니다. 어떤 글자도 지우지 않았습니다."
    case .oddLength: "기기 토큰은 바이트마다 16진수 두 자리인데 자릿수가 홀수입니다. 중간에 잘리지 않았는지 확인하세요."
    case .tooShort: "기기 토큰이라기에는 너무 짧습니다. 중간에 잘리지 않았는지 확인하세요."
    case .tooLong: "기기 토큰은 16진수 \(2 * DeviceToken.maximumBytes)자리를 넘지 않습니다."
    }
  }
}
