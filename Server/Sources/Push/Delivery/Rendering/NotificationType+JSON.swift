import PabalPrimitives

// Reads a type's file. Unknown members are refused: a misspelt one must not vanish.
extension NotificationType {
  /// - Throws: `type_json_malformed`, `type_member_invalid` with the member's name, or `template_invalid`.
  package init(parsing source: String) throws(NotificationTypeError) {
    let root: JSONSlice
    do {
      root = try JSONSlice(parsing: Array(source.utf8))
    } catch {
      throw NotificationTypeError(.json, error.message, cause: error)
    }
    let file = TypeMembers(root, "")
    try file.allow([
      "name", "version", "description", "category", "frequencyClass", "params", "content", "defaultLocale",
      "presentation", "delivery",
    ])
    let delivery = try file.object("delivery")
    try delivery.allow(["priority", "ttlSeconds", "dedupeKey", "dedupeWindowSeconds", "exclude"])
    guard let name = try file.string("name"), !name.isEmpty else { throw file.wrong("name", "is required") }
    guard let frequencyClass = FrequencyClass(rawValue: try file.string("frequencyClass") ?? "") else {
      throw file.wrong("frequencyClass", "must be one of the classes")
    }
    guard let priority = PushPriority(rawValue: try delivery.string("priority") ?? "high") else {
      throw delivery.wrong("priority", "must be high or normal")
    }
    self.name = name
    self.version = try file.int("version") ?? 1
    self.category = try file.string("category")
    self.frequencyClass = frequencyClass
    self.parameters = try Self.parameters(try file.object("params"))
    self.priority = priority
    self.timeToLive = .seconds(try delivery.int("ttlSeconds") ?? 86_400)
    self.dedupeKey = try delivery.template("dedupeKey")
    self.dedupeWindow = .seconds(try delivery.int("dedupeWindowSeconds") ?? 7 * 86_400)
    self.excludes = try delivery.string("exclude")
    self.texts = try Self.texts(try file.object("content"))
    self.defaultLocale = try file.string("defaultLocale") ?? ""
    self.presentation = try Self.presentation(try file.object("presentation"))
    try checkNames()
  }

  private static func parameters(_ members: TypeMembers) throws(NotificationTypeError) -> [Parameter] {
    var parameters: [Parameter] = []
    for (name, _) in members.value.members {
      let member = try members.object(name)
      try member.allow(["type", "required", "minimum", "maximum"])
      guard let kind = ParameterKind(rawValue: try member.string("type") ?? "string") else {
        throw member.wrong("type", "must be string or integer")
      }
      parameters.append(
        Parameter(
          name: name, kind: kind, isRequired: member.value["required"]?.bool ?? false,
          minimum: try member.int("minimum"), maximum: try member.int("maximum")))
    }
    return parameters
  }

  private static func texts(_ members: TypeMembers) throws(NotificationTypeError) -> [Text] {
    var texts: [Text] = []
    for (locale, _) in members.value.members {
      let member = try members.object(locale)
      try member.allow(["title", "body"])
      guard let title = try member.template("title"), let body = try member.template("body") else {
        throw members.wrong(locale, "needs title and body")
      }
      texts.append(Text(locale: locale, title: title, body: body))
    }
    return texts
  }

  private static func presentation(_ members: TypeMembers) throws(NotificationTypeError) -> Presentation {
    try members.allow([
      "extras", "threadId", "actionCategory", "sound", "badge", "interruptionLevel", "link", "payload",
    ])
    guard let extras = Extras(rawValue: try members.string("extras") ?? Extras.full.rawValue) else {
      throw members.wrong("extras", "must be guide or full")
    }
    var level: InterruptionLevel?
    if let word = try members.string("interruptionLevel") {
      level = InterruptionLevel(rawValue: word)
      if level == nil { throw members.wrong("interruptionLevel", "is no interruption level") }
    }
    let payload = try members.object("payload")
    var own: [(name: String, value: Template)] = []
    for (name, _) in payload.value.members {
      guard !PayloadWriter.reserved.contains(name) else { throw payload.wrong(name, "is a reserved key") }
      guard let template = try payload.template(name) else { throw payload.wrong(name, "must be a string") }
      own.append((name, template))
    }
    return Presentation(
      extras: extras, threadID: try members.template("threadId"), actionCategory: try members.string("actionCategory"),
      sound: try members.string("sound"), badge: try members.int("badge"), interruptionLevel: level,
      link: try members.template("link"), payload: own)
  }

  /// Every name in a template is a parameter; those that texts cannot do without are required ones.
  private func checkNames() throws(NotificationTypeError) {
    let known = Set(parameters.map(\.name))
    let required = Set(parameters.filter(\.isRequired).map(\.name))
    let words =
      texts.flatMap { [$0.title, $0.body] } + [dedupeKey, presentation.link, presentation.threadID].compactMap { $0 }
    for template in words + presentation.payload.map(\.value) {
      if let name = template.names.first(where: { !known.contains($0) }) {
        throw NotificationTypeError(.template, "'\(name)' is no parameter of \(self.name).")
      }
    }
    for template in words {
      if let name = template.requiredNames.first(where: { !required.contains($0) }) {
        throw NotificationTypeError(
          .template, "'\(name)' may be missing in \(self.name): make it required, or give a default.")
      }
    }
    guard texts.contains(where: { $0.locale == defaultLocale }) else {
      throw NotificationTypeError(.member, "'defaultLocale' of \(name) must be one of the locales in 'content'.")
    }
  }
}

/// The members of one object of a type's file, with the way to it for errors.
private struct TypeMembers {
  let value: JSONSlice
  let path: String

  init(_ value: JSONSlice, _ path: String) {
    self.value = value
    self.path = path
  }

  func wrong(
    _ key: String, _ problem: String, file: String = #fileID, line: Int = #line
  ) -> NotificationTypeError {
    NotificationTypeError(.member, "'\(path)\(key)' \(problem).", file: file, line: line)
  }

  func allow(_ names: Set<String>) throws(NotificationTypeError) {
    guard value.kind == .object else { throw wrong("", "must be an object") }
    if let unknown = value.members.first(where: { !names.contains($0.name) }) {
      throw wrong(unknown.name, "is unknown here")
    }
  }

  /// An absent object reads as an empty one.
  func object(_ key: String) throws(NotificationTypeError) -> TypeMembers {
    guard let member = value[key] else { return TypeMembers(Self.empty, "\(path)\(key).") }
    guard member.kind == .object else { throw wrong(key, "must be an object") }
    return TypeMembers(member, "\(path)\(key).")
  }

  func string(_ key: String) throws(NotificationTypeError) -> String? {
    guard let member = value[key], !member.isNull else { return nil }
    guard let text = member.string else { throw wrong(key, "must be a string") }
    return text
  }

  func int(_ key: String) throws(NotificationTypeError) -> Int? {
    guard let member = value[key], !member.isNull else { return nil }
    guard let number = member.int else { throw wrong(key, "must be a whole number") }
    return number
  }

  func template(_ key: String) throws(NotificationTypeError) -> Template? {
    guard let source = try string(key) else { return nil }
    return try Template(parsing: source)
  }

  private static var empty: JSONSlice {
    do {
      return try JSONSlice(parsing: Array("{}".utf8))
    } catch {
      preconditionFailure("{} is JSON")
    }
  }
}
