import PabalModel
import PabalPrimitives

/// Writes a payload with its members in one fixed order: what is counted here is what is sent.
struct PayloadWriter {
  /// Root members that no type may name.
  static let reserved: Set<String> = ["aps", "pabal", "image", "link"]

  let title: String?
  let identity: PushIdentity
  var badge: Int?
  var sound: String?
  var category: String?
  var threadID: String?
  var interruptionLevel: InterruptionLevel?
  var isMutable = false
  var own: [(name: String, value: String)] = []
  var link: String?
  var image: String?

  init(title: String?, identity: PushIdentity) {
    self.title = title
    self.identity = identity
  }

  func payload(body: String?) -> [UInt8] {
    let aps = JSONValue.compact([
      "alert": .compact(["title": JSONValue(title), "body": JSONValue(body)]),
      "badge": JSONValue(badge), "sound": JSONValue(sound), "category": JSONValue(category),
      "thread-id": JSONValue(threadID), "interruption-level": JSONValue(interruptionLevel?.apns),
      "mutable-content": isMutable ? 1 : .null,
    ])
    var members = [JSONMember("aps", aps)]
    members += own.map { JSONMember($0.name, .string($0.value)) }
    if let link { members.append(JSONMember("link", .string(link))) }
    if let image { members.append(JSONMember("image", .string(image))) }
    members.append(
      JSONMember(
        "pabal", ["m": .string(identity.message.rawValue), "d": .string(identity.delivery.rawValue)]))
    return JSONValue.object(members).encoded
  }
}
