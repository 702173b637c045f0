#if !os(iOS)
public import PabalPrimitives
public import PabalSimUserNotifications

/// One thing that happened on the phone. Only `PabalSimulation` writes these.
public struct PhoneRecord: Sendable, Equatable {
  public enum Event: Sendable, Equatable {
    /// An app process started; `byTap` when a notification started it.
    case launched(byTap: Bool)
    case enteredForeground
    case enteredBackground
    /// The user swiped the app away.
    case killed
    case askedForPermission
    case permissionAnswered(granted: Bool)
    /// The app got its token; lower-case hex.
    case registered(token: String)
    case registrationFailed(String)
    /// APNs handed a push over.
    case received(id: String, apnsID: String)
    /// The push was known already: a repeat after a reconnect.
    case receivedAgain(apnsID: String)
    case extensionStarted(id: String)
    case extensionFinished(id: String)
    /// The extension did not answer in time: what came from APNs was shown instead.
    case extensionExpired(id: String)
    case attachmentRefused(id: String, reason: String)
    /// Shown while the app was not in front.
    case shownOnLockScreen(id: String)
    /// The app in front answered `options`; the screen shows what they ask for, which may be nothing.
    case presented(id: String, options: UNNotificationPresentationOptions)
    /// Not shown, because the user does not allow it.
    case notAllowed(id: String)
    /// The app handled a push in the background.
    case handledInBackground(apnsID: String)
    case silentPushDropped(apnsID: String, reason: String)
    /// The user did something with a notification, and the app answered.
    case responded(id: String, action: String)
    case openedAddress(String)
    case uninstalled
  }

  public let at: WallTime
  public let event: Event
}

extension PhoneRecord.Event: CustomStringConvertible {
  /// For people; a token is cut to its ends, because it may be printed.
  public var description: String {
    switch self {
    case .registered(let token): "registered \(token.prefix(4))…\(token.suffix(4))"
    case .registrationFailed(let reason): "registration failed: \(reason)"
    case .launched(let byTap): byTap ? "launched by a tap" : "launched"
    case .enteredForeground: "in front"
    case .enteredBackground: "in the background"
    case .killed: "killed by the user"
    case .askedForPermission: "asked for permission"
    case .permissionAnswered(let granted): granted ? "allowed" : "refused"
    case .received(let id, _): "received \(id)"
    case .receivedAgain(let apnsID): "received again \(apnsID)"
    case .extensionStarted(let id): "extension started for \(id)"
    case .extensionFinished(let id): "extension finished \(id)"
    case .extensionExpired(let id): "extension too late for \(id)"
    case .attachmentRefused(let id, let reason): "attachment of \(id) refused: \(reason)"
    case .shownOnLockScreen(let id): "on the lock screen: \(id)"
    case .presented(let id, let options): "presented \(id) with options \(options.rawValue)"
    case .notAllowed(let id): "not allowed: \(id)"
    case .handledInBackground(let apnsID): "handled in the background: \(apnsID)"
    case .silentPushDropped(let apnsID, let reason): "silent push \(apnsID) dropped: \(reason)"
    case .responded(let id, let action): "\(action) on \(id)"
    case .openedAddress(let address): "opened \(address)"
    case .uninstalled: "uninstalled"
    }
  }
}

/// Something that an app did wrong and a real phone would not tell it.
public struct PhoneDefect: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// A completion handler was called more than once.
    case answeredTwice
    /// A completion handler went away without having been called.
    case neverAnswered
    /// A completion handler was not called within the time the system gives.
    case answeredTooLate
    /// A tap or button had no delegate to go to and was lost.
    case responseWithoutDelegate
    /// The payload was not a JSON object with `aps`.
    case unreadablePayload
    /// A push for another app.
    case wrongTopic
    /// A call from a process that the phone has ended.
    case callFromEndedProcess
  }

  public let kind: Kind
  /// Which call, and of which notification.
  public let what: String
}
#endif
