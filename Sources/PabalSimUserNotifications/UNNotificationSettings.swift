#if !os(iOS)
public import Foundation

/// https://developer.apple.com/documentation/usernotifications/unnotificationsettings
open class UNNotificationSettings: NSObject {
  public let authorizationStatus: UNAuthorizationStatus
  public let soundSetting: UNNotificationSetting
  public let badgeSetting: UNNotificationSetting
  public let alertSetting: UNNotificationSetting
  public let notificationCenterSetting: UNNotificationSetting
  public let lockScreenSetting: UNNotificationSetting
  public let carPlaySetting: UNNotificationSetting
  public let criticalAlertSetting: UNNotificationSetting
  public let announcementSetting: UNNotificationSetting
  public let timeSensitiveSetting: UNNotificationSetting
  public let scheduledDeliverySetting: UNNotificationSetting
  public let directMessagesSetting: UNNotificationSetting
  public let alertStyle: UNAlertStyle
  public let showPreviewsSetting: UNShowPreviewsSetting
  public let providesAppNotificationSettings: Bool

  /// Only the system makes settings: apps on a device have no such initialiser.
  public init(
    simulated authorizationStatus: UNAuthorizationStatus, sound: UNNotificationSetting, badge: UNNotificationSetting,
    alert: UNNotificationSetting, notificationCenter: UNNotificationSetting, lockScreen: UNNotificationSetting,
    alertStyle: UNAlertStyle, providesAppNotificationSettings: Bool
  ) {
    self.authorizationStatus = authorizationStatus
    soundSetting = sound
    badgeSetting = badge
    alertSetting = alert
    notificationCenterSetting = notificationCenter
    lockScreenSetting = lockScreen
    carPlaySetting = .notSupported
    criticalAlertSetting = .notSupported
    announcementSetting = .notSupported
    timeSensitiveSetting = .notSupported
    scheduledDeliverySetting = .disabled
    directMessagesSetting = .notSupported
    self.alertStyle = alertStyle
    showPreviewsSetting = .whenAuthenticated
    self.providesAppNotificationSettings = providesAppNotificationSettings
    super.init()
  }
}
#endif
