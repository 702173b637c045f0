#if !os(iOS)
internal import Foundation
internal import PabalPrimitives
internal import PabalSimUIKit
internal import PabalSimUserNotifications

/// What happens to a push from the moment APNs hands it over until it is on the screen, or is not.
extension SimulatedPhone {
  func receive(_ push: DevicePush) async {
    await work.during("push \(push.apnsID)") {
      guard state.withLock({ $0.isFirst(push.inboxID) }) else { return record(.receivedAgain(apnsID: push.apnsID)) }
      let id = push.collapseID ?? push.apnsID
      record(.received(id: id, apnsID: push.apnsID))
      guard push.topic == app.bundleID else { return note(.wrongTopic, push.apnsID) }
      guard let payload = RemotePayload(push.payload) else { return note(.unreadablePayload, push.apnsID) }

      if payload.isContentAvailable { await deliverInBackground(push) }
      guard payload.hasAlert || payload.content.badge != nil || payload.content.sound != nil else { return }
      await show(id: id, payload)
    }
  }

  private func show(id: String, _ payload: RemotePayload) async {
    let permission = state.withLock { $0.permission }
    guard payload.hasAlert, permission.showsAlerts else {
      let isAllowed = permission.status == .authorized || permission.status == .provisional
      if !payload.hasAlert, isAllowed {
        state.withLock { state in
          if permission.badges, let badge = payload.content.badge { state.screen.badge = badge }
          if permission.sounds, payload.content.sound != nil { state.soundsPlayed += 1 }
        }
      } else {
        record(.notAllowed(id: id))
      }
      return
    }
    var content = payload.content
    if payload.isMutable, let makeExtension = app.makeExtension {
      content = await runExtension(makeExtension, id: id, original: content)
      content.attachments = storeAttachments(content.attachments, of: id)
    }
    let notification = NotificationRecord(id: id, content: content, date: date)
    if let process = state.withLock({ $0.visibility == .foreground ? $0.runningProcess : nil }) {
      let options = await askWhetherToPresent(notification, process)
      state.withLock { $0.show(notification, on: options.limited(to: permission)) }
      record(.presented(id: id, options: options))
    } else {
      let options: UNNotificationPresentationOptions =
        permission.isQuiet || !permission.lockScreen ? [.list, .badge] : [.banner, .list, .badge, .sound]
      state.withLock { $0.show(notification, on: options.limited(to: permission)) }
      record(.shownOnLockScreen(id: id))
    }
  }

  private func storeAttachments(_ attachments: [ContentRecord.Attachment], of id: String) -> [ContentRecord.Attachment]
  {
    let store = AttachmentStore(folder: files.appendingPathComponent("attachments", isDirectory: true))
    return attachments.compactMap { attachment in
      do {
        return try store.take(attachment)
      } catch {
        record(.attachmentRefused(id: id, reason: "\(error)"))
        return nil
      }
    }
  }

  // MARK: The app in front decides

  private func askWhetherToPresent(
    _ notification: NotificationRecord, _ process: AppProcess
  ) async -> UNNotificationPresentationOptions {
    await answerOf("willPresent \(notification.id)") { handler in
      guard let delegate = process.centreDelegate.withLock({ $0.object }) else { return handler.answer([]) }
      self.within(process.centre) {
        delegate.userNotificationCenter(process.centre, willPresent: notification.makeNotification()) {
          handler.answer($0)
        }
      }
    } ?? []
  }

  /// Calls the app on the callback queue and waits for the one answer, for as long as the system would; nil without.
  func answerOf<Answer: Sendable>(
    _ what: String, _ call: @escaping @Sendable (OnceAnswer<Answer>) -> Void
  ) async -> Answer? {
    let timer = Locked<PhoneClock.TimerID?>(nil)
    defer { timer.withLock { $0.map(clock.cancel) } }
    return await withCheckedContinuation { continuation in
      let handler = OnceAnswer<Answer> {
        continuation.resume(returning: $0)
      } misuse: { [weak self] misuse in
        self?.note(misuse == .answeredTwice ? .answeredTwice : .neverAnswered, what)
      }
      let id = clock.schedule(after: PhoneLimits.handlerTime) { [weak self, weak handler] in
        guard let handler else { return }
        self?.note(.answeredTooLate, what)
        handler.giveUp()
      }
      timer.withLock { $0 = id }
      callbacks.async { call(handler) }
    }
  }

  // MARK: Background pushes

  private func deliverInBackground(_ push: DevicePush) async {
    let (process, killedByUser) = state.withLock { state -> (AppProcess?, Bool) in
      switch state.process {
      case .running(let process, _): (process, false)
      case .notRunning(let byUser): (nil, byUser)
      }
    }
    guard !killedByUser else {
      return record(.silentPushDropped(apnsID: push.apnsID, reason: "the user has swiped the app away"))
    }
    let running: AppProcess
    if let process { running = process } else { running = await startProcess(.background, tapped: nil) }
    let result: UIBackgroundFetchResult? = await answerOf("didReceiveRemoteNotification \(push.apnsID)") { handler in
      DispatchQueue.main.async {
        MainActor.assumeIsolated {
          SimulatedApplication.$current.withValue(running.application) {
            self.within(running.centre) {
              guard let delegate = running.delegate else { return handler.answer(.failed) }
              delegate.application(
                running.application, didReceiveRemoteNotification: ContentRecord.dictionary(push.payload)
              ) { handler.answer($0) }
            }
          }
        }
      }
    }
    if result != nil { record(.handledInBackground(apnsID: push.apnsID)) }
  }

  // MARK: The service extension

  /// Runs the app's extension and answers what it made of the notification, or the original after its time.
  private func runExtension(
    _ make: @escaping @Sendable () -> UNNotificationServiceExtension, id: String, original: ContentRecord
  ) async -> ContentRecord {
    record(.extensionStarted(id: id))
    let centre = UNUserNotificationCenter(
      calls: centreCalls(processNumber: nil, delegate: Locked(WeakCentreDelegate())))
    let object = Locked<UNNotificationServiceExtension?>(nil)
    let timer = Locked<PhoneClock.TimerID?>(nil)
    let what = "service extension \(id)"
    let answer: ContentRecord? = await withCheckedContinuation { continuation in
      let handler = OnceAnswer<ContentRecord> {
        continuation.resume(returning: $0)
      } misuse: { [weak self] misuse in
        self?.note(misuse == .answeredTwice ? .answeredTwice : .neverAnswered, what)
      }
      let timerID = clock.schedule(after: PhoneLimits.extensionTime) { [weak self, weak handler] in
        guard let self, let handler else { return }
        // On another thread than `didReceive`, as on a phone.
        OwnThread.start {
          if let running = object.withLock({ $0 }) {
            self.within(centre) { running.serviceExtensionTimeWillExpire() }
          }
          handler.giveUp()
        }
      }
      timer.withLock { $0 = timerID }
      OwnThread.start {
        self.within(centre) {
          let made = make()
          object.withLock { $0 = made }
          let request = UNNotificationRequest(
            identifier: id, content: original.makeContent(), trigger: UNPushNotificationTrigger(simulated: ()))
          made.didReceive(request) { handler.answer(ContentRecord($0)) }
        }
      }
    }
    timer.withLock { $0.map(clock.cancel) }
    object.withLock { $0 = nil }
    record(answer == nil ? .extensionExpired(id: id) : .extensionFinished(id: id))
    return answer ?? original
  }
}

extension UNNotificationPresentationOptions {
  /// What the user's switches leave of it.
  func limited(to permission: PhonePermission) -> UNNotificationPresentationOptions {
    var options = self
    if !permission.badges { options.remove(.badge) }
    if !permission.sounds { options.remove(.sound) }
    return options
  }
}
#endif
