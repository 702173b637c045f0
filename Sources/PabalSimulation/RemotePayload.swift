#if !os(iOS)
internal import Foundation
internal import PabalSimUserNotifications

/// The system's reading of a push payload, by Apple's page "Generating a remote notification".
///
/// Written without a look at Pabal's own reader: a phone that shared the server's words would share its mistakes.
struct RemotePayload {
  var content: ContentRecord
  var hasAlert: Bool
  var isMutable: Bool
  var isContentAvailable: Bool

  /// nil unless the bytes are a JSON object with an `aps` object.
  init?(_ bytes: [UInt8]) {
    guard let aps = ContentRecord.dictionary(bytes)["aps"] as? [String: Any] else { return nil }

    var content = ContentRecord(userInfo: bytes)
    if let text = aps["alert"] as? String {
      content.body = text
    } else if let alert = aps["alert"] as? [String: Any] {
      content.title = alert["title"] as? String ?? ""
      content.subtitle = alert["subtitle"] as? String ?? ""
      content.body = alert["body"] as? String ?? ""
      content.launchImageName = alert["launch-image"] as? String ?? ""
    }
    content.badge = aps["badge"] as? Int
    content.sound = Self.sound(aps["sound"])
    content.categoryIdentifier = aps["category"] as? String ?? ""
    content.threadIdentifier = aps["thread-id"] as? String ?? ""
    content.targetContentIdentifier = aps["target-content-id"] as? String
    content.relevanceScore = aps["relevance-score"] as? Double ?? 0
    content.interruptionLevel =
      switch aps["interruption-level"] as? String {
      case "passive": .passive
      case "time-sensitive": .timeSensitive
      case "critical": .critical
      default: .active
      }
    self.content = content
    hasAlert = aps["alert"] != nil
    isMutable = aps["mutable-content"] as? Int == 1
    isContentAvailable = aps["content-available"] as? Int == 1
  }

  private static func sound(_ value: Any?) -> ContentRecord.Sound? {
    if let name = value as? String { return ContentRecord.Sound(name: name == "default" ? nil : name) }
    guard let sound = value as? [String: Any] else { return nil }
    let name = sound["name"] as? String
    return ContentRecord.Sound(name: name == "default" ? nil : name, isCritical: sound["critical"] as? Int == 1)
  }
}
#endif
