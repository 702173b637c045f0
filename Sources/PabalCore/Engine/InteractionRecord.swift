internal import PabalModel
internal import PabalPrimitives

/// A tap as it stands on disk until the app's handler has returned.
enum InteractionRecord {
  static func encode(_ interaction: PabalInteraction) -> [UInt8] {
    let notification = interaction.notification
    var text: String?
    let kind: String =
      switch interaction.kind {
      case .open: "open"
      case .dismiss: "dismiss"
      case .action: "action"
      case .reply(_, let typed): kindOfReply(typed, into: &text)
      }
    let link = notification.link.names.compactMap { name in
      notification.link.value(name).map { JSONMember(name, JSONValue($0)) }
    }
    return JSONValue.compact([
      "v": 1, "kind": .string(kind), "action": .string(interaction.actionName), "text": JSONValue(text),
      "request": .string(notification.requestID), "title": .string(notification.title),
      "body": .string(notification.body), "category": .string(notification.category),
      "thread": .string(notification.threadID), "date": .int(notification.date.milliseconds),
      "m": JSONValue(notification.identity?.message.rawValue), "d": JSONValue(notification.identity?.delivery.rawValue),
      "link": .object(link),
    ]).encoded
  }

  private static func kindOfReply(_ typed: String, into text: inout String?) -> String {
    text = typed
    return "reply"
  }

  /// `nil` when the bytes are no record of ours.
  static func decode(_ bytes: [UInt8]) -> PabalInteraction? {
    do throws(JSONError) {
      let root = try JSONSlice(parsing: bytes)
      guard let request = root["request"]?.string, let date = root["date"]?.int, let action = root["action"]?.string
      else { return nil }
      let kind: PabalInteraction.Kind
      switch root["kind"]?.string {
      case "open": kind = .open
      case "dismiss": kind = .dismiss
      case "action": kind = .action(action)
      case "reply": kind = .reply(action, text: root["text"]?.string ?? "")
      default: return nil
      }
      var identity: PushIdentity?
      if let message = root["m"]?.string, let delivery = root["d"]?.string {
        identity = PushIdentity(message: MessageID(rawValue: message), delivery: DeliveryID(rawValue: delivery))
      }
      let link = root["link"]?.members.map { JSONMember($0.name, JSONValue($0.value)) } ?? []
      return PabalInteraction(
        kind,
        of: PabalNotification(
          requestID: request, title: root["title"]?.string ?? "", body: root["body"]?.string ?? "",
          category: root["category"]?.string ?? "", threadID: root["thread"]?.string ?? "",
          date: WallTime(milliseconds: Int64(date)), identity: identity, link: PabalLink(payload: .object(link))))
    } catch {
      return nil
    }
  }
}
