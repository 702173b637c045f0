public import Foundation
package import PabalMailbox
public import PabalPrimitives

/// Everything outside of the SDK that it asks for, as values: time, timers, network, keychain, folders, the app's own
/// facts. `live` is the device; a simulated phone or a test gives its own.
public struct PabalEnvironment: Sendable {
  public var clock: PabalPrimitives.Clock
  public var timers: PabalTimers
  public var randomness: Randomness
  public var http: HTTPClient
  public var keychain: PabalKeychain
  /// Asked at each registration, because language and time zone change while the app runs.
  public var application: @Sendable () -> PabalApplicationFacts
  /// A folder that only this app sees and that the system never empties.
  public var container: URL
  /// The folder that app and extensions share; `nil` when the app lacks the app group.
  public var sharedContainer: @Sendable (_ appGroup: String) -> URL?
  public var activity: PabalActivity
  package var files: DurableFiles

  public init(
    clock: PabalPrimitives.Clock, timers: PabalTimers, randomness: Randomness, http: HTTPClient,
    keychain: PabalKeychain, application: @escaping @Sendable () -> PabalApplicationFacts, container: URL,
    sharedContainer: @escaping @Sendable (String) -> URL?, activity: PabalActivity = .none
  ) {
    self.clock = clock
    self.timers = timers
    self.randomness = randomness
    self.http = http
    self.keychain = keychain
    self.application = application
    self.container = container
    self.sharedContainer = sharedContainer
    self.activity = activity
    files = .live
  }
}

/// Calls back later, once, on any thread.
public struct PabalTimers: Sendable {
  /// Returns what cancels the timer; canceling a timer that has fired does nothing.
  public var schedule: @Sendable (_ after: Duration, _ fire: @escaping @Sendable () -> Void) -> PabalTimer

  public init(schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> PabalTimer) {
    self.schedule = schedule
  }
}

public struct PabalTimer: Sendable {
  public var cancel: @Sendable () -> Void

  public init(cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
  }
}

/// Told whenever the SDK has work open (a queued input, a call to the server, a handler of the app's), so that a
/// simulated phone knows when it may let time pass.
public struct PabalActivity: Sendable {
  /// Returns what must be called once, when that piece of work has ended.
  public var begin: @Sendable () -> @Sendable () -> Void

  public init(begin: @escaping @Sendable () -> @Sendable () -> Void) {
    self.begin = begin
  }

  public static let none = PabalActivity(begin: { {} })
}

/// What the app is and where it runs, as `PUT /v1/devices` reports it.
public struct PabalApplicationFacts: Sendable, Hashable {
  public var bundleID: String
  public var appVersion: String
  public var osVersion: String
  /// The hardware's name, such as `iPhone17,3`.
  public var model: String
  /// BCP 47, such as `ko-KR`.
  public var locale: String
  /// IANA, such as `Asia/Seoul`.
  public var timeZone: String
  public var hasServiceExtension: Bool
  public var hasContentExtension: Bool
  /// What the build's provisioning profile says; `nil` when it is not known.
  public var apnsEnvironment: String?

  public init(
    bundleID: String, appVersion: String, osVersion: String, model: String, locale: String, timeZone: String,
    hasServiceExtension: Bool, hasContentExtension: Bool, apnsEnvironment: String? = nil
  ) {
    self.bundleID = bundleID
    self.appVersion = appVersion
    self.osVersion = osVersion
    self.model = model
    self.locale = locale
    self.timeZone = timeZone
    self.hasServiceExtension = hasServiceExtension
    self.hasContentExtension = hasContentExtension
    self.apnsEnvironment = apnsEnvironment
  }
}
