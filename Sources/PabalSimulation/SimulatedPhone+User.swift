#if !os(iOS)
internal import PabalPrimitives
internal import PabalSimUserNotifications

/// The user's hands on a notification. Each method returns when the app has answered.
extension SimulatedPhone {
  /// Taps a notification: the app comes to the front.
  ///
  /// - Parameter id: nil is the newest one.
  /// - Throws: `PhoneError` `.noSuchCard`, `.notInstalled`.
  public func tap(_ id: String? = nil) async throws {
    try await respond(id, action: UNNotificationDefaultActionIdentifier, text: nil)
  }

  /// Presses a button of a notification. Only a `.foreground` button brings the app to the front.
  ///
  /// - Throws: `PhoneError` `.noSuchCard`, `.noSuchAction` (also for a text button: use `reply`), `.notInstalled`.
  public func press(_ action: String, on id: String? = nil) async throws {
    try await respond(id, action: action, text: nil)
  }

  /// Writes into the text field of a notification and sends it.
  ///
  /// - Throws: `PhoneError` `.noSuchCard`, `.noSuchAction` (also for a button without text), `.notInstalled`.
  public func reply(_ text: String, by action: String, on id: String? = nil) async throws {
    try await respond(id, action: action, text: text)
  }

  /// Clears a notification. The app hears of it only when the category asks for that.
  ///
  /// - Throws: `PhoneError` `.noSuchCard`, `.notInstalled`.
  public func dismiss(_ id: String? = nil) async throws {
    try await respond(id, action: UNNotificationDismissActionIdentifier, text: nil)
  }

  private func respond(_ id: String?, action: String, text: String?) async throws {
    try requireInstalled()
    let (notification, category) = try state.withLock { state in
      guard let wanted = id ?? state.delivered.first?.id,
        let notification = state.delivered.first(where: { $0.id == wanted })
      else { throw PhoneError(.noSuchCard, "no such notification on the screen: look at `screen` for those there are") }
      return (notification, state.categories[notification.content.categoryIdentifier])
    }
    var comesToFront = action == UNNotificationDefaultActionIdentifier
    switch action {
    case UNNotificationDefaultActionIdentifier: break
    case UNNotificationDismissActionIdentifier:
      guard category?.tellsDismissal == true else {
        state.withLock { state in _ = state.take(notification.id) }
        return
      }
    default:
      guard let button = category?.actions.first(where: { $0.identifier == action }),
        (button.textInput != nil) == (text != nil)
      else { throw PhoneError(.noSuchAction, "no such button: its category must be set before the notification comes") }
      comesToFront = button.options.contains(.foreground)
    }
    state.withLock { state in _ = state.take(notification.id) }
    await deliver(notification, action: action, text: text, comesToFront: comesToFront)
  }

  private func deliver(_ notification: NotificationRecord, action: String, text: String?, comesToFront: Bool) async {
    let process: AppProcess
    if let running = state.withLock({ $0.runningProcess }) {
      process = running
      if comesToFront { await bringToFront(running) }
    } else {
      process = await startProcess(comesToFront ? .inactive : .background, tapped: notification)
    }
    let what = "didReceive \(action) \(notification.id)"
    let answer: Bool? = await work.during(what) {
      await answerOf(what) { handler in
        guard let delegate = process.centreDelegate.withLock({ $0.object }) else {
          self.note(.responseWithoutDelegate, what)
          return handler.answer(false)
        }
        let response =
          if let text {
            UNTextInputNotificationResponse(
              simulated: notification.makeNotification(), actionIdentifier: action, userText: text)
          } else {
            UNNotificationResponse(simulated: notification.makeNotification(), actionIdentifier: action)
          }
        self.within(process.centre) {
          delegate.userNotificationCenter(process.centre, didReceive: response) { handler.answer(true) }
        }
      }
    }
    if answer == true { record(.responded(id: notification.id, action: action)) }
    if comesToFront { await becomeActive(process) }
  }
}
#endif
