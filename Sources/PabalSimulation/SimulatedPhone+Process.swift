#if !os(iOS)
internal import Foundation
internal import PabalPrimitives
internal import PabalSimUIKit
internal import PabalSimUserNotifications

extension SimulatedPhone {
  /// The user opens the app from its icon.
  public func launch() async throws {
    try requireInstalled()
    if let process = state.withLock({ $0.runningProcess }) {
      await bringToFront(process)
      await becomeActive(process)
    } else {
      let process = await startProcess(.inactive, tapped: nil)
      await becomeActive(process)
    }
  }

  /// The user leaves the app; it goes on existing in the background.
  public func enterBackground() async throws {
    guard let process = state.withLock({ $0.visibility == .foreground ? $0.runningProcess : nil }) else {
      throw PhoneError(.notRunning, "the app is not in front: launch it first")
    }
    state.withLock { $0.setVisibility(.inactive) }
    await tell(process, UIApplication.willResignActiveNotification) { $0.applicationWillResignActive($1) }
    state.withLock { state in
      state.setVisibility(.background)
      state.screen.banners = []
    }
    record(.enteredBackground)
    await tell(process, UIApplication.didEnterBackgroundNotification) { $0.applicationDidEnterBackground($1) }
  }

  /// The user opens the app again from its icon or the switcher.
  public func enterForeground() async throws {
    try await launch()
  }

  /// The user swipes the app away. The phone itself stays connected.
  public func kill() {
    state.withLock { $0.screen.banners = [] }
    if endProcess(byUser: true) { record(.killed) }
  }

  /// - Returns: whether there was one.
  @discardableResult
  func endProcess(byUser: Bool) -> Bool {
    // It is let go of outside of the lock: the app's objects may call the phone as they go.
    let ended = state.withLock { state in
      defer { state.process = .notRunning(byUser: byUser) }
      return state.runningProcess
    }
    return ended != nil
  }

  /// The system ends the app in the background, to get memory back: a silent push may start it again.
  public func terminateInBackground() {
    _ = state.withLock { state -> AppProcess? in
      guard state.visibility == .background else { return nil }
      defer { state.process = .notRunning(byUser: false) }
      return state.runningProcess
    }
  }

  /// The user deletes the app. Its token is dead from now on; APNs answers 410.
  public func uninstall() async throws {
    try requireInstalled()
    kill()
    try await link.uninstall()
    state.withLock { state in
      state.isInstalled = false
      state.token = nil
      state.isRegistered = false
      state.takeAll()
      state.screen = PhoneScreen()
    }
    record(.uninstalled)
  }

  func requireInstalled() throws {
    guard state.withLock({ $0.isInstalled }) else {
      throw PhoneError(.notInstalled, "the app was deleted from this phone: make another phone")
    }
  }

  // MARK: Steps of a process

  /// Starts the app; `tapped` is the notification that did it.
  func startProcess(_ visibility: PhoneState.Visibility, tapped: NotificationRecord?) async -> AppProcess {
    let number = state.withLock { state in
      state.processCount += 1
      return state.processCount
    }
    let delegateBox = Locked(WeakCentreDelegate())
    let centre = UNUserNotificationCenter(calls: centreCalls(processNumber: number, delegate: delegateBox))
    let process = await MainActor.run {
      AppProcess(
        number: number, centre: centre, centreDelegate: delegateBox,
        application: UIApplication(calls: applicationCalls(processNumber: number)))
    }
    state.withLock { $0.process = .running(process, visibility) }
    record(.launched(byTap: tapped != nil))
    let payload = tapped?.content.userInfo
    await onMain(process, "launch") { process in
      process.start(self.app.makeDelegate)
      // Made twice, because Apple's dictionary is not Sendable and each call gets its own.
      let options = payload.map { [UIApplication.LaunchOptionsKey.remoteNotification: ContentRecord.dictionary($0)] }
      _ = process.delegate?.application(process.application, willFinishLaunchingWithOptions: options)
      _ = process.delegate?.application(process.application, didFinishLaunchingWithOptions: options)
      NotificationCenter.default.post(
        name: UIApplication.didFinishLaunchingNotification, object: process.application)
    }
    return process
  }

  func bringToFront(_ process: AppProcess) async {
    guard state.withLock({ $0.visibility == .background }) else { return }
    state.withLock { $0.setVisibility(.inactive) }
    await tell(process, UIApplication.willEnterForegroundNotification) { $0.applicationWillEnterForeground($1) }
  }

  func becomeActive(_ process: AppProcess) async {
    guard state.withLock({ $0.visibility == .inactive }) else { return }
    state.withLock { state in
      state.setVisibility(.foreground)
      state.screen.lockScreen = []
    }
    record(.enteredForeground)
    await tell(process, UIApplication.didBecomeActiveNotification) { $0.applicationDidBecomeActive($1) }
  }

  private func tell(
    _ process: AppProcess, _ name: Notification.Name,
    _ call: @MainActor @Sendable @escaping (any UIApplicationDelegate, UIApplication) -> Void
  ) async {
    await onMain(process, name.rawValue) { process in
      if let delegate = process.delegate { call(delegate, process.application) }
      NotificationCenter.default.post(name: name, object: process.application)
    }
  }

  // MARK: Whose code runs

  /// Runs `body` as code of the running app: on the main actor, with its singletons.
  ///
  /// - Throws: `PhoneError` `.notRunning`.
  public func asApp<Answer: Sendable>(_ body: @MainActor @Sendable () -> Answer) async throws -> Answer {
    guard let process = state.withLock({ $0.runningProcess }) else {
      throw PhoneError(.notRunning, "the app does not run: launch it first")
    }
    return await onMain(process, "code of the app") { _ in body() }
  }

  /// Runs `body` on the main actor with Apple's singletons of this process.
  func onMain<Answer: Sendable>(
    _ process: AppProcess, _ what: String, _ body: @MainActor @Sendable (AppProcess) -> Answer
  ) async -> Answer {
    await work.during(what) {
      await MainActor.run {
        SimulatedApplication.$current.withValue(process.application) {
          self.within(process.centre) { body(process) }
        }
      }
    }
  }

  /// Runs `body` with this phone's singletons; an extension has a centre and no application.
  func within<Answer>(_ centre: UNUserNotificationCenter, _ body: () -> Answer) -> Answer {
    Self.$current.withValue(self) {
      SimulatedNotificationCenter.$current.withValue(centre) { body() }
    }
  }

  private func applicationCalls(processNumber: Int) -> ApplicationCalls {
    ApplicationCalls(
      register: { [weak self] in
        guard let self, self.accepts(processNumber, "registerForRemoteNotifications") else { return }
        self.enqueue(.register(processNumber: processNumber, self.work.begin("registration")))
      },
      unregister: { [weak self] in
        guard let self, self.accepts(processNumber, "unregisterForRemoteNotifications") else { return }
        self.state.withLock { $0.isRegistered = false }
      },
      isRegistered: { [weak self] in self?.state.withLock { $0.isRegistered } ?? false },
      state: { [weak self] in
        guard let self else { return .background }
        return self.state.withLock { state in
          guard state.runningProcess?.number == processNumber else { return .background }
          return switch state.visibility {
          case .foreground: .active
          case .inactive: .inactive
          case .background, nil: .background
          }
        }
      },
      open: { [weak self] address in
        self?.record(.openedAddress(address.absoluteString))
        return true
      },
      beginBackgroundTask: { [weak self] _ in
        guard let self else { return UIBackgroundTaskIdentifier.invalid.rawValue }
        return Int(clamping: self.work.begin("background task").number)
      },
      endBackgroundTask: { [weak self] number in
        guard number > 0 else { return }
        self?.work.end(OpenWork.Ticket(number: UInt64(number)))
      })
  }

  /// Whether the process that calls is the one that runs; a call of an ended one is a defect and does nothing.
  func accepts(_ processNumber: Int, _ call: String) -> Bool {
    let isCurrent = state.withLock { $0.runningProcess?.number == processNumber }
    if !isCurrent { note(.callFromEndedProcess, call) }
    return isCurrent
  }
}
#endif
