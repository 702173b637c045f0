public import Foundation
internal import PabalPrimitives

/// Pabal in an app: registers the device, shows or silences notifications, hands taps to the right screen, and reports
/// what became of each push.
///
/// Make one when the app launches, before `didFinishLaunching` returns, on the main actor. There is no shared instance.
@available(iOSApplicationExtension, unavailable)
@MainActor public final class PabalClient {
  let core: ClientCore
  private var delegate: PabalNotificationDelegate?
  private var isStarted = false

  public init(_ configuration: Configuration) {
    core = ClientCore(configuration)
  }

  deinit {
    let core = core
    core.onMain { $0.stop() }
  }

  /// Installs the notification delegate and the categories, asks the system for a token, and goes on with whatever an
  /// earlier launch left undone. Touches no file and no network before it returns. Calling it again does nothing.
  public func start() {
    guard !isStarted else { return }
    isStarted = true
    if delegate == nil { delegate = PabalNotificationDelegate(client: self) }
    core.start()
  }

  func keep(_ delegate: PabalNotificationDelegate) {
    self.delegate = delegate
    core.system.setDelegate(delegate)
  }

  // MARK: - Who

  /// Gives this device to a user. Returns when that is saved on the device; the server is told as soon as it can be
  /// reached. Another user who was signed in loses the device, and what is on the screen for them.
  ///
  /// - Parameter userID: the app's own name for the user, 1 to 255 bytes; any other is refused, and reported by
  ///   `registrationUpdates`.
  public func signIn(userID: String) async {
    guard let user = UserID(checking: userID) else {
      let error = PabalError(code: "user_id_invalid", message: "A user id has 1 to 255 bytes and no NUL.")
      core.registration.send(.failed(error, retryAt: nil))
      return
    }
    await core.inbox.handle(.registration(.signIn(user)))
  }

  /// Takes this device from the user. Returns when that is saved on the device; works offline: the server is told as
  /// soon as it can be reached, by this launch or a later one.
  public func signOut() async {
    await core.inbox.handle(.registration(.signOut))
  }

  // MARK: - Permission

  /// What the user allows now.
  public var authorization: PabalAuthorization {
    get async { await core.refreshAuthorization() }
  }

  /// The last known permission, and each change: by the prompt, or found when the app comes back from Settings.
  public var authorizationUpdates: AsyncStream<PabalAuthorization> { core.authorization.stream() }

  /// Asks the user, at a moment that makes sense to them. Never called by the SDK itself. Throws the system's error.
  @discardableResult
  public func requestAuthorization(
    _ options: PabalAuthorizationOptions = .standard
  ) async throws -> PabalAuthorization {
    try await core.system.requestAuthorization(options)
    return await core.refreshAuthorization()
  }

  /// Opens this app's page in Settings, the only place where a refusal can be taken back.
  public func openSystemSettings() {
    core.system.openNotificationSettings()
  }

  // MARK: - Registration

  public func didRegister(deviceToken: Data) {
    guard let token = DeviceToken(data: deviceToken) else { return }
    core.inbox.put(.registration(.token(token)))
  }

  public func didFailToRegister(_ error: any Error) {
    core.inbox.put(
      .registration(
        .tokenFailed(
          PabalError(
            code: "apns_registration_failed",
            message: "The system gave no device token. Check the Push Notifications capability and the network.",
            cause: error))))
  }

  /// The last known state, and each change.
  public var registrationUpdates: AsyncStream<PabalRegistration> { core.registration.stream() }

  // MARK: - Notifications

  /// Who handles what the user does with notifications. Called once for each tap, button or reply; once more, with the
  /// same `id`, at the next launch if the process died before the handler returned.
  public func onInteraction(_ handler: @escaping @MainActor @Sendable (PabalInteraction) async -> Void) {
    core.setHandler(handler)
  }

  /// For apps with a delegate of their own: how this notification shows in the foreground. Reports it as presented when
  /// it does.
  public func presentation(for notification: PabalNotification) -> PabalPresentation {
    core.present(notification)
  }

  /// For apps with a delegate of their own, and for `UIScene.ConnectionOptions.notificationResponse`. The same tap may
  /// be reported any number of times. Returns when the handler has returned.
  public func handle(_ interaction: PabalInteraction) async {
    await withCheckedContinuation { continuation in
      core.receive(interaction) { continuation.resume() }
    }
  }

  /// Which screens are visible, for the rules of `presentation`.
  public var screens: PabalScreens { core.screens }

  /// Where taps lead. Say `ready: true` once the interface can show a screen and `false` when it cannot: a tap
  /// meanwhile is held (the latest, for five minutes, for this account only) and performed once.
  public func routes(ready: Bool, perform: ((PabalLink) -> Void)? = nil) {
    core.routes(ready: ready, perform: perform)
  }

  /// The held link, once: `nil` when it is asked for again.
  public func consumeLaunchLink() -> PabalLink? {
    core.consumeLaunchLink()
  }

  public var preferences: PabalPreferences { PabalPreferences(core: core) }

  /// Reports now whatever waits, and returns when nothing is under way any more, successful or not.
  public func flush() async {
    await core.flush()
  }

  /// What went wrong lately on this device, newest last: for a diagnosis screen, not for users.
  public func recentProblems() async -> [PabalError] {
    await core.recentProblems()
  }
}

@available(iOSApplicationExtension, unavailable)
extension PabalClient {
  public struct Configuration: Sendable {
    public var server: URL
    /// The publishable key, `pp_…`. It may stand in the app: it can only register devices and report events.
    public var key: String
    /// The group that app and service extension share, as in both entitlements.
    public var appGroup: String
    public var identity: PabalIdentity
    /// Registered beside those of others when the client starts.
    public var actionCategories: [PabalActionCategory]
    public var presentation: PabalPresentationPolicy
    /// Which of Apple's services issues this build's tokens; `nil`: as the provisioning profile says.
    public var apnsEnvironment: PushEnvironment?
    public var environment: PabalEnvironment

    public init(
      server: URL, key: String, appGroup: String, identity: PabalIdentity = .open,
      actionCategories: [PabalActionCategory] = [], presentation: PabalPresentationPolicy = .standard,
      apnsEnvironment: PushEnvironment? = nil, environment: PabalEnvironment = .live()
    ) {
      self.server = server
      self.key = key
      self.appGroup = appGroup
      self.identity = identity
      self.actionCategories = actionCategories
      self.presentation = presentation
      self.apnsEnvironment = apnsEnvironment
      self.environment = environment
    }
  }
}

/// How the server knows that a user is who the app says.
public enum PabalIdentity: Sendable, Hashable {
  /// It takes the app's word: for tests, and for apps whose user ids cannot be guessed.
  case open
}
