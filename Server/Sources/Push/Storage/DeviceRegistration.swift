package import PabalModel
package import PabalPrimitives

/// What an install says about itself: one whole state, never a difference.
package struct DeviceRegistration: Sendable, Unprintable {
  package var appMode: AppMode
  /// `nil`: nobody is signed in; the device keeps its row and reaches no user.
  package var user: UserID?
  /// `nil` for a guide client, whose only identity is its token.
  package var install: InstallID?
  /// Counts the sign-ins and sign-outs of an install; a registration with a lower one than stored changes nothing.
  package var epoch: Int64
  /// `nil` while the system has not given one. Needs `install`.
  package var token: DeviceToken?
  package var platform: Platform
  package var topic: Topic?
  /// `nil`: to be learned by the first 200.
  package var environment: PushEnvironment?
  package var attributes: DeviceAttributes
  /// The secret that the caller proved to know, as it came over the wire; needed when `user` is `nil` and the install
  /// exists.
  package var installSecret: String?
  /// The server's clock; becomes `registeredAt`, `unchanged` included (the 410 rule reads it).
  package var at: WallTime

  package init(
    appMode: AppMode, user: UserID?, install: InstallID? = nil, epoch: Int64 = 0, token: DeviceToken?,
    platform: Platform, topic: Topic? = nil, environment: PushEnvironment? = nil,
    attributes: DeviceAttributes = DeviceAttributes(), installSecret: String? = nil, at: WallTime
  ) {
    self.appMode = appMode
    self.user = user
    self.install = install
    self.epoch = epoch
    self.token = token
    self.platform = platform
    self.topic = topic
    self.environment = environment
    self.attributes = attributes
    self.installSecret = installSecret
    self.at = at
  }
}

/// What a device reports beside its token. Every member may be missing; an absent one keeps what is stored.
package struct DeviceAttributes: Hashable, Sendable {
  package var appVersion: String?
  package var osVersion: String?
  package var model: String?
  /// BCP 47, as the device spells it.
  package var locale: String?
  /// IANA name.
  package var timeZone: String?
  /// The system's answer: `granted`, `denied`, `notDetermined`, `provisional`, `ephemeral`, or a later word.
  package var permission: String?
  package var lockScreen: Bool?
  package var sdkVersion: String?
  package var hasServiceExtension: Bool?
  package var hasContentExtension: Bool?

  package init(
    appVersion: String? = nil, osVersion: String? = nil, model: String? = nil, locale: String? = nil,
    timeZone: String? = nil, permission: String? = nil, lockScreen: Bool? = nil, sdkVersion: String? = nil,
    hasServiceExtension: Bool? = nil, hasContentExtension: Bool? = nil
  ) {
    self.appVersion = appVersion
    self.osVersion = osVersion
    self.model = model
    self.locale = locale
    self.timeZone = timeZone
    self.permission = permission
    self.lockScreen = lockScreen
    self.sdkVersion = sdkVersion
    self.hasServiceExtension = hasServiceExtension
    self.hasContentExtension = hasContentExtension
  }

  /// This report over an older one.
  package func merged(over older: DeviceAttributes) -> DeviceAttributes {
    DeviceAttributes(
      appVersion: appVersion ?? older.appVersion, osVersion: osVersion ?? older.osVersion,
      model: model ?? older.model, locale: locale ?? older.locale, timeZone: timeZone ?? older.timeZone,
      permission: permission ?? older.permission, lockScreen: lockScreen ?? older.lockScreen,
      sdkVersion: sdkVersion ?? older.sdkVersion,
      hasServiceExtension: hasServiceExtension ?? older.hasServiceExtension,
      hasContentExtension: hasContentExtension ?? older.hasContentExtension)
  }
}

/// What a registration did.
package struct RegistrationResult: Sendable, Unprintable {
  package enum Status: String, Sendable {
    case created
    case updated
    case unchanged
    /// The device belongs to another user than before.
    case reassigned
    /// A lower epoch than stored: nothing changed.
    case superseded
  }

  package var status: Status
  /// The device as it now stands.
  package var device: DeviceRecord
  /// Given on creation of an install, and again while the install has never proved to know it (the first answer may
  /// have been lost). Only its hash is kept.
  package var installSecret: String?
  /// Devices of the same install or token that this registration replaced.
  package var replaced: [DeviceRecord]

  package init(status: Status, device: DeviceRecord, installSecret: String? = nil, replaced: [DeviceRecord] = []) {
    self.status = status
    self.device = device
    self.installSecret = installSecret
    self.replaced = replaced
  }
}

/// The guide's log-out: by token, and only if the token is still that user's.
package struct DeviceUnregistration: Sendable {
  package var appMode: AppMode
  package var user: UserID
  package var token: DeviceToken
  package var at: WallTime

  package init(appMode: AppMode, user: UserID, token: DeviceToken, at: WallTime) {
    self.appMode = appMode
    self.user = user
    self.token = token
    self.at = at
  }
}

/// What the guide's unregistration did.
package enum UnregistrationResult: Hashable, Sendable {
  /// The device is gone from the user and gets nothing more.
  case removed(DeviceID)
  /// The token is unknown: logging out must not fail.
  case absent
  /// The token meanwhile belongs to somebody else: nothing was removed.
  case notOwner
}

/// The SDK's sign-out. It may arrive days late; a later sign-in has a higher epoch and wins.
package struct InstallSignOut: Sendable, Unprintable {
  package var appMode: AppMode
  package var install: InstallID
  package var installSecret: String
  package var epoch: Int64
  package var at: WallTime

  package init(appMode: AppMode, install: InstallID, installSecret: String, epoch: Int64, at: WallTime) {
    self.appMode = appMode
    self.install = install
    self.installSecret = installSecret
    self.epoch = epoch
    self.at = at
  }
}

/// What a sign-out did.
package enum SignOutResult: Sendable {
  /// The user is unbound; the device keeps its row.
  case signedOut(DeviceRecord)
  /// A later sign-in stands: nothing changed.
  case superseded(DeviceRecord)
  case absent
  case wrongSecret
}
