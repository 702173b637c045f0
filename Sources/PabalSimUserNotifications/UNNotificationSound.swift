#if !os(iOS)
public import Foundation

/// https://developer.apple.com/documentation/usernotifications/unnotificationsound
open class UNNotificationSound: NSObject {
  /// nil is the system's default sound.
  public let simulatedName: String?
  public let simulatedIsCritical: Bool

  init(name: String?, isCritical: Bool) {
    simulatedName = name
    simulatedIsCritical = isCritical
    super.init()
  }

  public convenience init(named name: UNNotificationSoundName) {
    self.init(name: name.rawValue, isCritical: false)
  }

  open class var `default`: UNNotificationSound { UNNotificationSound(name: nil, isCritical: false) }
  open class var defaultCritical: UNNotificationSound { UNNotificationSound(name: nil, isCritical: true) }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationSound else { return false }
    return simulatedName == other.simulatedName && simulatedIsCritical == other.simulatedIsCritical
  }

  open override var hash: Int { simulatedName.hashValue ^ simulatedIsCritical.hashValue }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationsoundname
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}
#endif
