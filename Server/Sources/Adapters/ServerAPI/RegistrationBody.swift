import HTTPServer
import PabalModel
import PabalPrimitives
import Storage

/// The members of a registration, under the names of the guide's routes or of `/v1/devices`.
struct RegistrationBody: Sendable {
  struct Names: Sendable {
    let token: String
    let model: String
    /// The guide's clients name a user always and may send ids as numbers.
    let isGuide: Bool

    static let guide = Names(token: "deviceToken", model: "deviceModel", isGuide: true)
    static let v1 = Names(token: "token", model: "model", isGuide: false)
  }

  var user: UserID?
  var install: InstallID?
  var epoch: Int64
  var token: DeviceToken?
  var platform: Platform
  var topic: Topic?
  var environment: PushEnvironment?
  var attributes: DeviceAttributes
  /// Members that the guide's routes do not know: reported back, not refused, since the guide's server took anything.
  var ignored: [String]

  init(_ request: HTTPRequest, _ names: Names) throws(APIError) {
    var fields = try RequestFields(request)
    user = try Self.user(&fields, names)
    install = try Self.install(&fields)
    let epoch = try fields.int("epoch") ?? 0
    guard epoch >= 0 else { throw .invalid("epoch", "must not be negative") }
    self.epoch = Int64(epoch)
    token = try Self.token(&fields, names, isRequired: names.isGuide || install == nil)
    platform = try Self.platform(&fields)
    topic = try Self.topic(&fields)
    environment = try Self.word(&fields, "environment")
    attributes = try Self.attributes(&fields, names)
    ignored = names.isGuide ? fields.unasked : []
    if !names.isGuide {
      // A misspelt member is named before what is missing because of it.
      try fields.finish()
      guard install != nil else { throw .missing("installId", hint: "The install's own name, the same at each call.") }
    }
  }

  private static func user(_ fields: inout RequestFields, _ names: Names) throws(APIError) -> UserID? {
    if names.isGuide { return try PushAPI.user(fields.guideText("userId"), "userId") }
    guard let value = fields.raw("userId") else { throw .missing("userId", hint: "null when nobody is signed in.") }
    guard !value.isNull else { return nil }
    guard let text = value.string else { throw .invalid("userId", "must be a string or null") }
    return try PushAPI.user(text, "userId")
  }

  private static func install(_ fields: inout RequestFields) throws(APIError) -> InstallID? {
    guard let text = try fields.string("installId") else { return nil }
    guard let install = InstallID(checking: text) else {
      throw .invalid("installId", "must have 1 to 64 letters, digits, '-' or '_'")
    }
    return install
  }

  private static func token(
    _ fields: inout RequestFields, _ names: Names, isRequired: Bool
  ) throws(APIError) -> DeviceToken? {
    guard let text = try fields.string(names.token) else {
      if isRequired { throw .missing(names.token) }
      return nil
    }
    return try PushAPI.token(text, names.token)
  }

  private static func platform(_ fields: inout RequestFields) throws(APIError) -> Platform {
    let text = try fields.requiredString("platform")
    guard let platform = Platform(checking: text) else {
      throw .invalid(
        "platform", "is unknown", hint: "Known: \(Platform.known.map(\.rawValue).joined(separator: ", ")).")
    }
    guard platform != .android else {
      throw APIError(
        400, .invalidRequest, "provider_unsupported", "Android needs FCM, which this server does not speak yet.",
        parameter: "platform")
    }
    return platform
  }

  private static func topic(_ fields: inout RequestFields) throws(APIError) -> Topic? {
    guard let text = try fields.string("bundleId"), !text.isEmpty else { return nil }
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
    guard allowed, text.utf8.count <= 155 else {
      throw .invalid("bundleId", "must have at most 155 letters, digits, '-' and '.'")
    }
    return Topic(rawValue: text)
  }

  private static func word<Word: RawRepresentable & CaseIterable>(
    _ fields: inout RequestFields, _ name: String
  ) throws(APIError) -> Word? where Word.RawValue == String {
    guard let text = try fields.string(name), !text.isEmpty else { return nil }
    guard let word = Word(rawValue: text) else {
      throw .invalid(name, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }

  private static func attributes(_ fields: inout RequestFields, _ names: Names) throws(APIError) -> DeviceAttributes {
    var attributes = DeviceAttributes()
    attributes.appVersion = try fields.short("appVersion")
    attributes.osVersion = try fields.short("osVersion")
    attributes.model = try fields.short(names.model)
    attributes.locale = try fields.short("locale")
    attributes.timeZone = try fields.short("timeZone")
    attributes.sdkVersion = try fields.short("sdkVersion")
    attributes.lockScreen = try fields.bool("lockScreen")
    let permission: NotificationPermission? = try word(&fields, "permission")
    attributes.permission = permission?.rawValue
    if var capabilities = try fields.object("capabilities") {
      attributes.hasServiceExtension = try capabilities.bool("serviceExtension")
      attributes.hasContentExtension = try capabilities.bool("contentExtension")
      try capabilities.finish()
    }
    return attributes
  }
}

extension PushAPI {
  /// Apple fixes no length, and none shorter was ever seen: what is, was cut on its way here.
  static let tokenBytesMinimum = 8

  static func token(_ text: String, _ parameter: String) throws(APIError) -> DeviceToken {
    do throws(DeviceTokenError) {
      let token = try DeviceToken(parsing: text)
      guard token.bytes.count >= tokenBytesMinimum else { throw DeviceTokenError(.tooShort) }
      return token
    } catch {
      throw APIError(
        400, .invalidRequest, error.code, "'\(parameter)' is no APNs device token.", parameter: parameter,
        hint: error.message, cause: error)
    }
  }
}

extension RequestFields {
  /// Bytes of an attribute such as a model name; longer ones are no names.
  private static var attributeBytes: Int { 128 }

  /// A short text; an empty one is as good as none.
  mutating func short(_ key: String) throws(APIError) -> String? {
    guard let text = try string(key), !text.isEmpty else { return nil }
    guard text.utf8.count <= Self.attributeBytes else {
      throw .invalid(name(key), "must have at most \(Self.attributeBytes) bytes")
    }
    return text
  }

  /// A required text of the guide's routes: many backends send ids as numbers.
  mutating func guideText(_ key: String) throws(APIError) -> String {
    guard let text = try optionalGuideText(key), !text.isEmpty else { throw .missing(name(key)) }
    return text
  }

  mutating func optionalGuideText(_ key: String) throws(APIError) -> String? {
    guard let value = value(key) else { return nil }
    if let text = value.string { return text }
    if let number = value.int { return String(number) }
    throw .invalid(name(key), "must be a string")
  }
}
