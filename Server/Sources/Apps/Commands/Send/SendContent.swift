import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives

/// What is sent: `--payload`, or the flags for title, text and the rest.
struct SendContent: Sendable {
  enum Body: Sendable {
    /// The same for all.
    case fixed(APNsPayload)
    /// Filled with each line's variables.
    case template(PayloadTemplate)
  }

  /// A payload file longer than this is a wrong file; APNs' own limit is far below.
  private static let fileBytes = 1 << 20

  let body: Body
  let pushType: APNsPushType
  /// What was given, for the digest of a run.
  let source: [UInt8]

  var variables: [String] {
    guard case .template(let template) = body else { return [] }
    return template.names
  }

  /// - Parameter hasVariables: whether the list can fill `{name}`.
  /// - Returns: the content, and warnings about it.
  static func read(_ command: ParsedCommand, hasVariables: Bool) throws -> (SendContent, [String]) {
    let visible = [
      SendOptions.title, SendOptions.body, SendOptions.subtitle, SendOptions.sound, SendOptions.badge,
      SendOptions.category, SendOptions.thread, SendOptions.link, SendOptions.image,
    ]
    guard let path = command.value(SendOptions.payload) else {
      let source = try built(command).bytes
      return try checked(source, try pushType(command) ?? .alert, hasVariables: hasVariables)
    }
    if let extra = visible.first(where: command.isSet) {
      throw UsageError("Give --\(extra.name) or --payload, not both: a payload is sent as it stands.")
    }
    let source = try InputFile.contents(of: path, what: "The payload", limit: fileBytes)
    let name = path == "-" ? "Standard input" : path
    do {
      return try checked(source, try pushType(command), hasVariables: hasVariables)
    } catch let error as APNsRequestError {
      throw UsageError("\(name): \(error.message)", code: error.code)
    } catch let error as UsageError where error.code == "payload_invalid" {
      throw UsageError("\(name): \(error.message)", code: error.code)
    }
  }

  private static func built(_ command: ParsedCommand) throws -> APNsPayload {
    guard try pushType(command) ?? .alert == .alert else {
      throw UsageError("A push of this type is not made of title and text. Give its payload with --payload FILE.")
    }
    var content = APNsContent()
    content.title = APNsText(command.value(SendOptions.title))
    content.subtitle = APNsText(command.value(SendOptions.subtitle))
    content.body = APNsText(command.value(SendOptions.body))
    content.sound = command.value(SendOptions.sound).map(APNsSound.named)
    content.category = command.value(SendOptions.category)
    content.threadID = command.value(SendOptions.thread)
    content.badge = try command.integer(SendOptions.badge, in: 0...Int(Int32.max)).map { try APNsBadge($0) }
    let isEmpty = content.title == nil && content.body == nil && content.badge == nil && content.sound == nil
    guard !isEmpty else {
      throw UsageError("What to send is missing. Give -t TITLE and -b TEXT, or --payload FILE.")
    }
    if let link = command.value(SendOptions.link) { content.custom.append(JSONMember("link", .string(link))) }
    if let image = command.value(SendOptions.image) {
      guard image.hasPrefix("https://") || image.hasPrefix("http://") || image.hasPrefix("{") else {
        throw UsageError("--image must be the address of a picture, https://…, found '\(image)'.")
      }
      content.custom.append(JSONMember("imageUrl", .string(image)))
      content.isMutable = true
    }
    return try content.payload()
  }

  private static func checked(
    _ source: [UInt8], _ given: APNsPushType?, hasVariables: Bool
  ) throws -> (SendContent, [String]) {
    let root = try APNsPayload.parse(source)
    guard let pushType = given ?? APNsValidity.pushType(inferredFrom: root) else {
      throw UsageError("The payload shows nothing and wakes nobody, so its type cannot be told. Give --push-type.")
    }
    let body: Body
    if hasVariables {
      let template = try PayloadTemplate(withoutFinalNewline(source))
      body = try bodyOf(template, pushType)
    } else {
      body = .fixed(try APNsPayload(checking: source, for: pushType))
    }
    // A value may change what the rules speak of: then each rendering is checked.
    if case .template(let template) = body, template.hasValues {
      return (SendContent(body: body, pushType: pushType, source: source), [])
    }
    try APNsValidity.check(root, as: pushType)
    let warnings = APNsValidity.findings(in: root, as: pushType).map { "\($0.path): \($0.message)" }
    return (SendContent(body: body, pushType: pushType, source: source), warnings)
  }

  private static func bodyOf(_ template: PayloadTemplate, _ pushType: APNsPushType) throws -> Body {
    if template.names.isEmpty, case .payload(let bytes) = template.render([]) {
      return .fixed(try APNsPayload(checking: bytes, for: pushType))
    }
    guard template.fixedBytes <= pushType.maximumPayloadBytes else {
      throw UsageError(
        "The payload has \(template.fixedBytes) bytes without its variables; a push of type \(pushType.rawValue) may "
          + "have \(pushType.maximumPayloadBytes). Shorten it.", code: "payload_too_large")
    }
    return .template(template)
  }

  private static func withoutFinalNewline(_ source: [UInt8]) -> [UInt8] {
    guard source.last == UInt8(ascii: "\n") else { return source }
    let bytes = source.dropLast()
    return Array(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
  }

  private static func pushType(_ command: ParsedCommand) throws(UsageError) -> APNsPushType? {
    try command.value(SendOptions.pushType).map(PayloadSource.type)
  }
}

extension SendContent {
  /// What one line gets.
  enum Rendering {
    case payload(APNsPayload)
    case rejected(ReasonCode)
  }

  func payload(for details: LineDetails?) -> Rendering {
    switch body {
    case .fixed(let payload): return .payload(payload)
    case .template(let template):
      switch template.render(details?.values ?? []) {
      case .rejected(let reason): return .rejected(reason)
      case .payload(let bytes): return Self.checked(bytes, pushType, asWhole: template.hasValues)
      }
    }
  }

  private static func checked(_ bytes: [UInt8], _ pushType: APNsPushType, asWhole: Bool) -> Rendering {
    do throws(APNsRequestError) {
      if asWhole { try APNsValidity.check(try APNsPayload.parse(bytes), as: pushType) }
      return .payload(try APNsPayload(checking: bytes, for: pushType))
    } catch {
      return .rejected(error.code == "payload_too_large" ? .payloadTooLarge : .payloadInvalid)
    }
  }
}
