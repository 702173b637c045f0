#if !os(iOS)
public import Foundation

/// Look-alike of Apple's class: immutable for its holder; `mutableCopy()` makes one that can be changed.
/// https://developer.apple.com/documentation/usernotifications/unnotificationcontent
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
  struct Fields {
    var attachments: [UNNotificationAttachment] = []
    var badge: NSNumber?
    var body = ""
    var categoryIdentifier = ""
    var launchImageName = ""
    var sound: UNNotificationSound?
    var subtitle = ""
    var threadIdentifier = ""
    var title = ""
    var userInfo: [AnyHashable: Any] = [:]
    var targetContentIdentifier: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var relevanceScore = 0.0
    var filterCriteria: String?
  }

  var fields: Fields

  public override init() {
    fields = Fields()
    super.init()
  }

  init(fields: Fields) {
    self.fields = fields
    super.init()
  }

  open var attachments: [UNNotificationAttachment] { fields.attachments }
  open var badge: NSNumber? { fields.badge }
  open var body: String { fields.body }
  open var categoryIdentifier: String { fields.categoryIdentifier }
  open var launchImageName: String { fields.launchImageName }
  open var sound: UNNotificationSound? { fields.sound }
  open var subtitle: String { fields.subtitle }
  open var threadIdentifier: String { fields.threadIdentifier }
  open var title: String { fields.title }
  open var userInfo: [AnyHashable: Any] { fields.userInfo }
  open var targetContentIdentifier: String? { fields.targetContentIdentifier }
  open var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
  open var relevanceScore: Double { fields.relevanceScore }
  open var filterCriteria: String? { fields.filterCriteria }

  open override func copy() -> Any { copy(with: nil) }
  open override func mutableCopy() -> Any { mutableCopy(with: nil) }
  open func copy(with zone: NSZone? = nil) -> Any { UNNotificationContent(fields: fields) }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(fields: fields) }
}

/// https://developer.apple.com/documentation/usernotifications/unmutablenotificationcontent
open class UNMutableNotificationContent: UNNotificationContent {
  open override var attachments: [UNNotificationAttachment] {
    get { fields.attachments }
    set { fields.attachments = newValue }
  }
  open override var badge: NSNumber? {
    get { fields.badge }
    set { fields.badge = newValue }
  }
  open override var body: String {
    get { fields.body }
    set { fields.body = newValue }
  }
  open override var categoryIdentifier: String {
    get { fields.categoryIdentifier }
    set { fields.categoryIdentifier = newValue }
  }
  open override var launchImageName: String {
    get { fields.launchImageName }
    set { fields.launchImageName = newValue }
  }
  open override var sound: UNNotificationSound? {
    get { fields.sound }
    set { fields.sound = newValue }
  }
  open override var subtitle: String {
    get { fields.subtitle }
    set { fields.subtitle = newValue }
  }
  open override var threadIdentifier: String {
    get { fields.threadIdentifier }
    set { fields.threadIdentifier = newValue }
  }
  open override var title: String {
    get { fields.title }
    set { fields.title = newValue }
  }
  open override var userInfo: [AnyHashable: Any] {
    get { fields.userInfo }
    set { fields.userInfo = newValue }
  }
  open override var targetContentIdentifier: String? {
    get { fields.targetContentIdentifier }
    set { fields.targetContentIdentifier = newValue }
  }
  open override var interruptionLevel: UNNotificationInterruptionLevel {
    get { fields.interruptionLevel }
    set { fields.interruptionLevel = newValue }
  }
  open override var relevanceScore: Double {
    get { fields.relevanceScore }
    set { fields.relevanceScore = newValue }
  }
  open override var filterCriteria: String? {
    get { fields.filterCriteria }
    set { fields.filterCriteria = newValue }
  }
}
#endif
