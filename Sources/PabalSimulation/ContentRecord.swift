#if !os(iOS)
public import Foundation
public import PabalSimUserNotifications

/// What a notification says, as a value that may cross threads; Apple's content objects may not.
public struct ContentRecord: Sendable, Equatable {
  public struct Sound: Sendable, Equatable {
    /// nil is the system's default sound.
    public var name: String?
    public var isCritical = false
  }

  public struct Attachment: Sendable, Equatable {
    public var identifier: String
    /// In the phone's own store once the notification is shown.
    public var url: URL
    /// A uniform type identifier.
    public var type: String
    /// Known once the file is in the phone's store.
    public var byteCount = 0
  }

  public var title = ""
  public var subtitle = ""
  public var body = ""
  public var badge: Int?
  public var sound: Sound?
  public var categoryIdentifier = ""
  public var threadIdentifier = ""
  public var launchImageName = ""
  public var targetContentIdentifier: String?
  public var interruptionLevel = UNNotificationInterruptionLevel.active
  public var relevanceScore = 0.0
  public var attachments: [Attachment] = []
  /// A JSON object: the whole payload, unless the service extension changed it.
  public var userInfo: [UInt8]

  init(userInfo: [UInt8] = Array("{}".utf8)) {
    self.userInfo = userInfo
  }

  /// Reads Apple's object. A `userInfo` that JSON cannot hold reads as empty: Apple's must be a property list.
  init(_ content: UNNotificationContent) {
    title = content.title
    subtitle = content.subtitle
    body = content.body
    badge = content.badge?.intValue
    sound = content.sound.map { Sound(name: $0.simulatedName, isCritical: $0.simulatedIsCritical) }
    categoryIdentifier = content.categoryIdentifier
    threadIdentifier = content.threadIdentifier
    launchImageName = content.launchImageName
    targetContentIdentifier = content.targetContentIdentifier
    interruptionLevel = content.interruptionLevel
    relevanceScore = content.relevanceScore
    attachments = content.attachments.map { Attachment(identifier: $0.identifier, url: $0.url, type: $0.type) }
    userInfo = Self.json(content.userInfo)
  }

  /// Apple's object with this content.
  func makeContent() -> UNNotificationContent {
    let content = UNMutableNotificationContent()
    content.title = title
    content.subtitle = subtitle
    content.body = body
    content.badge = badge.map { NSNumber(value: $0) }
    content.sound = sound.map { sound in
      if let name = sound.name { return UNNotificationSound(named: UNNotificationSoundName(name)) }
      return sound.isCritical ? .defaultCritical : .default
    }
    content.categoryIdentifier = categoryIdentifier
    content.threadIdentifier = threadIdentifier
    content.launchImageName = launchImageName
    content.targetContentIdentifier = targetContentIdentifier
    content.interruptionLevel = interruptionLevel
    content.relevanceScore = relevanceScore
    content.attachments = attachments.map {
      UNNotificationAttachment(simulated: $0.identifier, storedAt: $0.url, type: $0.type)
    }
    content.userInfo = Self.dictionary(userInfo)
    return content
  }

  static func dictionary(_ json: [UInt8]) -> [AnyHashable: Any] {
    do {
      let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
      return Dictionary(uniqueKeysWithValues: (object ?? [:]).map { (AnyHashable($0.key), $0.value) })
    } catch {
      // An unreadable payload never becomes a record.
      return [:]
    }
  }

  private static func json(_ userInfo: [AnyHashable: Any]) -> [UInt8] {
    let pairs = userInfo.compactMap { key, value in (key.base as? String).map { ($0, value) } }
    let object = Dictionary(uniqueKeysWithValues: pairs)
    do {
      guard JSONSerialization.isValidJSONObject(object) else { return Array("{}".utf8) }
      return Array(try JSONSerialization.data(withJSONObject: object))
    } catch {
      return Array("{}".utf8)
    }
  }
}

/// A notification that the phone holds.
public struct NotificationRecord: Sendable, Equatable, Identifiable {
  /// The request's identifier: the collapse id if the push has one, else its apns-id.
  public let id: String
  public var content: ContentRecord
  /// By the phone's clock.
  public let date: Date

  func makeNotification() -> UNNotification {
    UNNotification(
      simulatedAt: date,
      request: UNNotificationRequest(
        identifier: id, content: content.makeContent(), trigger: UNPushNotificationTrigger(simulated: ())))
  }
}
#endif
