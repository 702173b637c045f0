import APNs
import ArgumentParsing
import PabalPrimitives

/// What is sent: `--payload`, or the flags for title, text and the rest.
struct SendContent {
  /// A payload file longer than this is a wrong file; APNs' own limit is far below.
  private static let fileBytes = 1 << 20

  let payload: APNsPayload
  let pushType: APNsPushType

  /// - Returns: the content, and warnings about it.
  static func read(_ command: ParsedCommand) throws -> (SendContent, [String]) {
    let visible = [
      SendOptions.title, SendOptions.body, SendOptions.subtitle, SendOptions.sound, SendOptions.badge,
      SendOptions.category, SendOptions.thread,
    ]
    guard let path = command.value(SendOptions.payload) else {
      return (SendContent(payload: try built(command), pushType: try pushType(command) ?? .alert), [])
    }
    if let extra = visible.first(where: command.isSet) {
      throw UsageError("Give --\(extra.name) or --payload, not both: a payload is sent as it stands.")
    }
    let source = try InputFile.contents(of: path, what: "The payload", limit: fileBytes)
    do {
      return try checked(source, try pushType(command))
    } catch let error as APNsRequestError {
      throw UsageError("\(path == "-" ? "Standard input" : path): \(error.message)", code: error.code)
    }
  }

  private static func built(_ command: ParsedCommand) throws -> APNsPayload {
    guard try pushType(command) ?? .alert == .alert else {
      throw UsageError("A push of this type is not made of title and text. Give its payload with --payload FILE.")
    }
    var content = APNsContent()
    content.title = command.value(SendOptions.title)
    content.subtitle = command.value(SendOptions.subtitle)
    content.body = command.value(SendOptions.body)
    content.sound = command.value(SendOptions.sound).map(APNsSound.named)
    content.category = command.value(SendOptions.category)
    content.threadID = command.value(SendOptions.thread)
    content.badge = try command.integer(SendOptions.badge, in: 0...Int(Int32.max)).map { try APNsBadge($0) }
    let isEmpty = content.title == nil && content.body == nil && content.badge == nil && content.sound == nil
    guard !isEmpty else {
      throw UsageError("What to send is missing. Give -t TITLE and -b TEXT, or --payload FILE.")
    }
    return try content.payload()
  }

  private static func checked(_ source: [UInt8], _ given: APNsPushType?) throws -> (SendContent, [String]) {
    let root = try APNsPayload.parse(source)
    guard let pushType = given ?? APNsValidity.pushType(inferredFrom: root) else {
      throw UsageError("The payload shows nothing and wakes nobody, so its type cannot be told. Give --push-type.")
    }
    try APNsValidity.check(root, as: pushType)
    let payload = try APNsPayload(checking: source, for: pushType)
    let warnings = APNsValidity.findings(in: root, as: pushType).map { "\($0.path): \($0.message)" }
    return (SendContent(payload: payload, pushType: pushType), warnings)
  }

  private static func pushType(_ command: ParsedCommand) throws(UsageError) -> APNsPushType? {
    guard let name = command.value(SendOptions.pushType) else { return nil }
    let type = APNsPushType(rawValue: name)
    guard APNsPushType.known.contains(type) else {
      let names = APNsPushType.known.map(\.rawValue)
      let nearest = NearestWord.find(name, among: names).map { " Did you mean \($0)?" } ?? ""
      throw UsageError("Unknown push type '\(name)'.\(nearest) Known are \(names.joined(separator: ", ")).")
    }
    return type
  }
}
