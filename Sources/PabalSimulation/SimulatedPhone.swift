#if !os(iOS)
public import Foundation
internal import PabalPrimitives
public import PabalSimUIKit
public import PabalSimUserNotifications

/// An app as it is installed on a phone: values that the phone makes processes from.
public struct InstalledApp: Sendable {
  /// Also the topic of its pushes.
  public var bundleID: String
  /// Makes the object that UIKit would make for each process of the app.
  public var makeDelegate: @MainActor @Sendable () -> any UIApplicationDelegate
  /// Makes the object that the system would make for each notification; nil when the app has no service extension.
  public var makeExtension: (@Sendable () -> UNNotificationServiceExtension)?

  public init(
    bundleID: String,
    makeDelegate: @escaping @MainActor @Sendable () -> any UIApplicationDelegate,
    makeExtension: (@Sendable () -> UNNotificationServiceExtension)?
  ) {
    self.bundleID = bundleID
    self.makeDelegate = makeDelegate
    self.makeExtension = makeExtension
  }
}

/// A phone with one app on it: Apple's side of a push, from the device link to the screen, with a user who follows a
/// script.
///
/// The phone runs inside `run`. It calls the app as iOS does: the application delegate on the main actor, everything
/// else on threads of its own. What it shows is `screen`, what happened is `records`, what the app did wrong is
/// `defects`. Time moves only by `advance`.
///
/// Several phones can run in one process: Apple's singletons resolve to the phone whose task or callback asks.
public final class SimulatedPhone: Sendable {
  /// The phone whose callbacks or `run` this code is inside of.
  @TaskLocal public static var current: SimulatedPhone?

  public let app: InstalledApp
  public let clock: PhoneClock
  /// The folder of this phone: the app's containers and the system's attachment store.
  public let files: URL
  /// What is open: handlers of the app, and the HTTP calls that the app counts here.
  public let work = OpenWork()

  let link: DeviceLink
  let state = Watched(PhoneState())
  /// Delegate callbacks and completion handlers run here: never the main thread.
  let callbacks = DispatchQueue(label: "phone callbacks")
  private let jobs: AsyncStream<Job>
  private let jobSource: AsyncStream<Job>.Continuation

  enum Job: Sendable {
    case register(processNumber: Int, OpenWork.Ticket)
  }

  public init(app: InstalledApp, link: DeviceLink, files: URL, clock: PhoneClock = PhoneClock()) {
    self.app = app
    self.link = link
    self.files = files
    self.clock = clock
    // An app asks for its token a few times a launch; the buffer cannot grow beyond what it asks.
    (jobs, jobSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  /// Switches the phone on for as long as `story` runs; the app's process ends with it. Once in a phone's life.
  public func run<Answer: Sendable>(_ story: () async throws -> Answer) async throws -> Answer {
    // Tasks that the app has started know `current`, and so the phone: app and phone would hold each other.
    defer { endProcess(byUser: false) }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.performJobs() }
      group.addTask { await self.receivePushes() }
      defer { group.cancelAll() }
      return try await Self.$current.withValue(self) { try await story() }
    }
  }

  // MARK: What can be seen

  public var screen: PhoneScreen { state.withLock { $0.screen } }
  public var records: [PhoneRecord] { state.withLock { Array($0.records) } }
  public var events: [PhoneRecord.Event] { records.map(\.event) }
  public var defects: [PhoneDefect] { state.withLock { $0.defects } }
  public var permission: PhonePermission { state.withLock { $0.permission } }
  public var soundsPlayed: Int { state.withLock { $0.soundsPlayed } }
  public var isAppRunning: Bool { state.withLock { $0.runningProcess != nil } }
  public var isAppInFront: Bool { state.withLock { $0.visibility == .foreground } }

  /// Returns once `isMet` holds for the screen and the records; checked after each change.
  /// Throws `CancellationError` when the task is cancelled: the deadline is the caller's.
  public func wait(until isMet: @escaping @Sendable (PhoneScreen, [PhoneRecord]) -> Bool) async throws {
    try await state.wait { isMet($0.screen, Array($0.records)) }
  }

  // MARK: Time

  /// Moves the phone's time.
  ///
  /// - Parameter whileWorkIsOpen: false (the rule) waits, before and after, until no HTTP call, no queued job of the
  ///   main actor and no handler is open. true is for the one case of time passing under a slow call.
  public func advance(by duration: Duration, whileWorkIsOpen: Bool = false) async throws {
    if !whileWorkIsOpen { try await settle() }
    clock.advance(by: duration)
    if !whileWorkIsOpen { try await settle() }
  }

  /// Waits until the app has nothing open and nothing queued.
  public func settle() async throws {
    var begun: UInt64
    repeat {
      try await work.untilIdle()
      begun = work.begunCount
      // A job that hops main → elsewhere → main needs a turn for each hop; what it begins starts the wait anew.
      for _ in 0..<8 {
        await drainCallbacks()
        await MainActor.run {}
        await Task.yield()
      }
    } while !work.isIdle || work.begunCount != begun
  }

  private func drainCallbacks() async {
    await withCheckedContinuation { continuation in callbacks.async { continuation.resume() } }
  }

  // MARK: Network

  /// Takes the phone off the network in an orderly way: APNs stores what comes meanwhile.
  public func goOffline() async throws {
    state.withLock { $0.isOnline = false }
    try await link.leave()
  }

  public func goOnline() {
    state.withLock { state in
      state.isOnline = true
      state.isStreamLost = false
    }
  }

  /// Ends with its task: `wait` throws nothing but cancellation.
  private func receivePushes() async {
    while !Task.isCancelled {
      do { try await state.wait { $0.wantsStream } } catch { return }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          for await push in self.link.pushes() { await self.receive(push) }
          if !Task.isCancelled { self.state.withLock { $0.isStreamLost = true } }
        }
        group.addTask {
          do { try await self.state.wait { !$0.wantsStream } } catch { return }
        }
        await group.next()
        group.cancelAll()
      }
    }
  }

  // MARK: Registration

  func enqueue(_ job: Job) {
    jobSource.yield(job)
  }

  private func performJobs() async {
    for await job in jobs {
      switch job {
      case .register(let processNumber, let ticket):
        await register(processNumber: processNumber)
        work.end(ticket)
      }
    }
  }

  private func register(processNumber: Int) async {
    let outcome: Result<[UInt8], any Error>
    do {
      if let token = state.withLock({ $0.token }) {
        outcome = .success(token)
      } else {
        try await state.wait { $0.isOnline }
        outcome = .success(try await link.register(app.bundleID))
      }
    } catch {
      outcome = .failure(error)
    }
    let process = state.withLock { state -> AppProcess? in
      if case .success(let token) = outcome {
        state.token = token
        state.isRegistered = true
      }
      guard let process = state.runningProcess, process.number == processNumber else { return nil }
      return process
    }
    guard let process else { return }
    switch outcome {
    case .success(let token):
      record(.registered(token: Hex.encode(token)))
      await onMain(process, "token") { process in
        process.delegate?.application(
          process.application, didRegisterForRemoteNotificationsWithDeviceToken: Data(token))
      }
    case .failure(let error):
      record(.registrationFailed("\(error)"))
      await onMain(process, "registration error") { process in
        process.delegate?.application(
          process.application, didFailToRegisterForRemoteNotificationsWithError: error)
      }
    }
  }

  // MARK: Records

  func record(_ event: PhoneRecord.Event) {
    let record = PhoneRecord(at: clock.now, event: event)
    state.withLock { state in _ = state.records.append(record) }
  }

  func note(_ kind: PhoneDefect.Kind, _ what: String) {
    state.withLock { $0.defects.append(PhoneDefect(kind: kind, what: what)) }
  }

  var date: Date { Date(timeIntervalSince1970: Double(clock.now.milliseconds) / 1000) }
}
#endif
