import Delivery
import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

/// Reads the body of `POST /v1/messages`. What is not built is refused by name, never ignored.
struct MessageBody {
  let draft: MessageDraft

  init(_ request: HTTPRequest) throws(APIError) {
    var fields = try RequestFields(request)
    let users = try Self.users(&fields)
    var words: [JSONMember] = []
    for key in ["type", "data", "content", "options"] {
      if let value = fields.raw(key) { words.append(JSONMember(key, JSONValue(value))) }
    }
    let type = try Self.type(&fields)
    let data = try Self.data(&fields, type)
    let content = try Self.content(&fields)
    let options = try Self.options(&fields)
    // A misspelt member is named before what is missing because of it.
    try fields.finish()
    guard type != nil || content.title != nil || content.body != nil else {
      throw .missing("type", hint: "Give a 'type', or a 'content' with a title or body that is not empty, or both.")
    }
    draft = MessageDraft(
      users: users, content: PushContent(type: type, data: data, content: content, options: options), source: "api",
      words: .object(words))
  }

  private static func users(_ fields: inout RequestFields) throws(APIError) -> [UserID] {
    guard var to = try fields.object("to") else { throw .missing("to", hint: #"{"to":{"userIds":["…"]}}"#) }
    let given = try to.array("userIds")
    try to.finish()
    guard let elements = given else { throw .missing("to.userIds", hint: #"{"to":{"userIds":["…"]}}"#) }
    guard (1...StorageLimits.usersPerMessage).contains(elements.count) else {
      throw .invalid("to.userIds", "must name 1 to \(StorageLimits.usersPerMessage) users")
    }
    var users: [UserID] = []
    for element in elements {
      guard let text = element.string else { throw .invalid("to.userIds", "must be an array of strings") }
      let user = try PushAPI.user(text, "to.userIds")
      if !users.contains(user) { users.append(user) }
    }
    return users
  }

  private static func type(_ fields: inout RequestFields) throws(APIError) -> NotificationType? {
    guard let name = try fields.string("type") else { return nil }
    guard let type = ShippedTypes.all[name] else { throw noSuchType() }
    return type
  }

  static func noSuchType(more: [String] = []) -> APIError {
    APIError(
      400, .invalidRequest, "type_not_found", "There is no type of that name.", parameter: "type",
      hint: "Known: \((ShippedTypes.all.keys + more).sorted().joined(separator: ", ")).")
  }

  private static func data(
    _ fields: inout RequestFields, _ type: NotificationType?
  ) throws(APIError) -> [String: TemplateValue] {
    var members = try fields.object("data")
    guard let type else {
      guard members == nil else { throw .invalid("data", "needs a 'type' that asks for it") }
      return [:]
    }
    let data = try TypeData.read(type, name: { "data.\($0)" }, value: { members?.raw($0) })
    try members?.finish()
    return data
  }

  private static func content(_ fields: inout RequestFields) throws(APIError) -> ContentOverride {
    guard var members = try fields.object("content") else { return ContentOverride() }
    let content = ContentOverride(
      title: try text(&members, "title"), body: try text(&members, "body"),
      image: try link(&members, "image", schemes: ["https", "http"]), link: try link(&members, "link", schemes: nil))
    try members.finish()
    return content
  }

  private static func text(_ members: inout RequestFields, _ key: String) throws(APIError) -> LocalizedText? {
    guard let value = members.value(key) else { return nil }
    if let text = value.string { return text.isEmpty ? nil : .plain(text) }
    guard value.kind == .object, !value.members.isEmpty else {
      throw .invalid(members.name(key), "must be a string, or an object of strings by locale")
    }
    var entries: [LocalizedText.Entry] = []
    for (locale, text) in value.members {
      guard let text = text.string, !text.isEmpty else {
        throw .invalid("\(members.name(key)).\(locale)", "must be a string that is not empty")
      }
      entries.append(LocalizedText.Entry(locale: locale, text: text))
    }
    return .byLocale(entries)
  }

  /// An absolute address without blanks or control characters.
  private static func link(
    _ members: inout RequestFields, _ key: String, schemes: Set<String>?
  ) throws(APIError) -> String? {
    guard let text = try members.string(key) else { return nil }
    let scheme = text.firstIndex(of: ":").map { text[..<$0].lowercased() }
    let isAddress = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } && text.utf8.count <= 2048
    guard isAddress, let scheme, !scheme.isEmpty, schemes?.contains(scheme) ?? true else {
      throw .invalid(
        members.name(key),
        "must be an absolute address"
          + (schemes.map { " with \($0.sorted().joined(separator: " or "))" } ?? ""))
    }
    return text
  }

  private static func options(_ fields: inout RequestFields) throws(APIError) -> PushOptions {
    var options = PushOptions()
    guard var members = try fields.object("options") else { return options }
    if let value = members.value("ttl") { options.timeToLive = try MessageTime.read(value, members.name("ttl")) }
    options.collapseKey = try key(&members, "collapseKey", bytes: NotificationLimits.collapseKeyBytes)
    options.threadID = try key(&members, "threadId", bytes: 255)
    options.interruptionLevel = try word(&members, "interruptionLevel")
    if options.interruptionLevel == .critical {
      throw .invalid(members.name("interruptionLevel"), "may not be critical: critical alerts are not supported yet")
    }
    options.priority = try word(&members, "priority")
    options.actionCategory = try key(&members, "actionCategory", bytes: 255)
    options.sound = try choice(&members, "sound") { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
    options.badge = try choice(&members, "badge") { value in
      value.int.flatMap { NotificationLimits.badge.contains($0) ? $0 : nil }
    }
    try members.finish()
    return options
  }

  /// An absent option is the type's; `null` is none.
  private static func choice<Value: Sendable>(
    _ members: inout RequestFields, _ key: String, _ read: (JSONSlice) -> Value?
  ) throws(APIError) -> PushOptions.Choice<Value> {
    guard let value = members.raw(key) else { return .byType }
    if value.isNull { return .none }
    guard let read = read(value) else {
      throw .invalid(
        members.name(key),
        key == "badge" ? "must be a whole number from 0 to 99999, or null" : "must be a name, or null")
    }
    return .value(read)
  }

  private static func key(_ members: inout RequestFields, _ name: String, bytes: Int) throws(APIError) -> String? {
    guard let text = try members.string(name) else { return nil }
    guard !text.isEmpty, text.utf8.count <= bytes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw .invalid(members.name(name), "must have 1 to \(bytes) bytes and no control character")
    }
    return text
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ members: inout RequestFields, _ name: String
  ) throws(APIError) -> Word? where Word.RawValue == String {
    guard let text = try members.string(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw .invalid(members.name(name), "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }
}
