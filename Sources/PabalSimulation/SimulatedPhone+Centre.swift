#if !os(iOS)
internal import Foundation
internal import PabalPrimitives
internal import PabalSimUserNotifications

/// The notification centre of one process: what its `UNUserNotificationCenter` does.
extension SimulatedPhone {
  /// - Parameter processNumber: nil for a service extension, which may call at any time while it runs.
  func centreCalls(processNumber: Int?, delegate: Locked<WeakCentreDelegate>) -> NotificationCenterCalls {
    let accepts: @Sendable (SimulatedPhone, String) -> Bool = { phone, call in
      guard let processNumber else { return true }
      return phone.accepts(processNumber, call)
    }
    return NotificationCenterCalls(
      delegate: { delegate.withLock { $0.object } },
      setDelegate: { object in delegate.withLock { $0.object = object } },
      requestAuthorization: { [weak self] options, done in
        guard let self, accepts(self, "requestAuthorization") else { return }
        self.askForPermission(options, done)
      },
      setCategories: { [weak self] categories in
        guard let self, accepts(self, "setNotificationCategories") else { return }
        let records = categories.map { ($0.identifier, PhoneState.Category($0)) }
        self.state.withLock { $0.categories = Dictionary(records) { first, _ in first } }
      },
      categories: { [weak self] done in
        guard let self else { return }
        self.answer("categories") { done(Set(self.state.withLock { $0.categories.values.map { $0.makeCategory() } })) }
      },
      settings: { [weak self] done in
        guard let self else { return }
        self.answer("settings") { done(self.state.withLock { $0.permission }.makeSettings()) }
      },
      add: { [weak self] request, done in
        guard let self, accepts(self, "add") else { return }
        self.add(request, done)
      },
      pending: { [weak self] done in
        guard let self else { return }
        self.answer("pending") { done(self.state.withLock { $0.pending }.map { $0.makeNotification().request }) }
      },
      removePending: { [weak self] ids in
        self?.state.withLock { state in state.pending.removeAll { ids?.contains($0.id) ?? true } }
      },
      delivered: { [weak self] done in
        guard let self else { return }
        self.answer("delivered") { done(self.state.withLock { $0.delivered }.map { $0.makeNotification() }) }
      },
      removeDelivered: { [weak self] ids in
        self?.state.withLock { state in
          guard let ids else { return state.takeAll() }
          for id in ids { state.take(id) }
        }
      },
      setBadgeCount: { [weak self] count, done in
        guard let self, accepts(self, "setBadgeCount") else { return }
        self.setBadge(count, done)
      })
  }

  /// Calls a completion handler on the phone's own queue.
  private func answer(_ what: String, _ body: @escaping @Sendable () -> Void) {
    let ticket = work.begin(what)
    callbacks.async {
      body()
      self.work.end(ticket)
    }
  }

  private func setBadge(_ count: Int, _ done: (@Sendable ((any Error)?) -> Void)?) {
    let isValid = count >= 0
    if isValid { state.withLock { $0.screen.badge = count } }
    answer("badge") { done?(isValid ? nil : UNError(.badgeInputInvalid)) }
  }

  /// A request without a trigger is shown at once; others wait, and the phone does not fire them by itself yet.
  private func add(_ request: UNNotificationRequest, _ done: (@Sendable ((any Error)?) -> Void)?) {
    let isImmediate = request.trigger == nil
    let notification = NotificationRecord(id: request.identifier, content: ContentRecord(request.content), date: date)
    let isAllowed = state.withLock { state in
      guard state.permission.showsAlerts else { return false }
      if isImmediate {
        state.show(notification, on: state.visibility == .foreground ? [] : [.banner, .list, .sound, .badge])
      } else {
        state.pending.removeAll { $0.id == notification.id }
        state.pending.append(notification)
      }
      return true
    }
    answer("add") { done?(isAllowed ? nil : UNError(.notificationsNotAllowed)) }
  }

  // MARK: Permission

  private func askForPermission(
    _ options: UNAuthorizationOptions, _ done: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    record(.askedForPermission)
    let tell: @Sendable (Bool) -> Void = { [weak self] granted in
      self?.answer("permission") { done(granted, nil) }
    }
    let planned: Bool?? = state.withLock { state in
      switch state.permission.status {
      case .notDetermined where options.contains(.provisional):
        state.permission.grant(options, provisionally: true)
        return .some(.some(true))
      case .notDetermined, .provisional:
        if options.contains(.provisional) { return .some(.some(true)) }
        state.waitingPrompts.append(PhoneState.Prompt(options: options, answer: tell))
        state.screen.permissionPrompt = PermissionPrompt(
          asksForAlerts: options.contains(.alert), asksForSounds: options.contains(.sound),
          asksForBadges: options.contains(.badge))
        return .some(.none)
      case .denied: return .some(.some(false))
      case .authorized, .ephemeral: return .some(.some(true))
      }
    }
    if let known = planned ?? nil {
      tell(known)
    } else if let answer = state.withLock({ $0.plannedPermissionAnswer }) {
      answerPermission(allow: answer)
    }
  }

  /// The user will answer the permission alert like this as soon as it appears.
  public func planPermissionAnswer(allow: Bool) {
    state.withLock { $0.plannedPermissionAnswer = allow }
  }

  /// The user answers the permission alert that is on the screen. Without one nothing happens.
  public func answerPermission(allow: Bool) {
    let prompts = state.withLock { state in
      let prompts = state.waitingPrompts
      guard let options = prompts.first?.options else { return prompts }
      if allow { state.permission.grant(options, provisionally: false) } else { state.permission.deny() }
      state.waitingPrompts = []
      state.screen.permissionPrompt = nil
      return prompts
    }
    guard !prompts.isEmpty else { return }
    record(.permissionAnswered(granted: allow))
    for prompt in prompts { prompt.answer(allow) }
  }

  /// The user changes this app's switches in Settings.
  public func changeSettings(_ change: (inout PhonePermission) -> Void) {
    state.withLock { change(&$0.permission) }
  }
}

extension PhonePermission {
  func makeSettings() -> UNNotificationSettings {
    func setting(_ isOn: Bool) -> UNNotificationSetting {
      status == .notDetermined ? .notSupported : isOn ? .enabled : .disabled
    }
    return UNNotificationSettings(
      simulated: status, sound: setting(sounds), badge: setting(badges), alert: setting(alerts),
      notificationCenter: setting(status != .denied), lockScreen: setting(lockScreen && status != .denied),
      alertStyle: alerts ? .banner : .none, providesAppNotificationSettings: hasSettingsLink)
  }
}

extension PhoneState.Category {
  init(_ category: UNNotificationCategory) {
    identifier = category.identifier
    tellsDismissal = category.options.contains(.customDismissAction)
    allowsCarPlay = category.options.contains(.allowInCarPlay)
    hiddenPreviewsBodyPlaceholder = category.hiddenPreviewsBodyPlaceholder
    actions = category.actions.map { action in
      let input = (action as? UNTextInputNotificationAction).map {
        (button: $0.textInputButtonTitle, placeholder: $0.textInputPlaceholder)
      }
      return Action(
        identifier: action.identifier, title: action.title, options: action.options, textInput: input)
    }
  }

  func makeCategory() -> UNNotificationCategory {
    var options: UNNotificationCategoryOptions = []
    if tellsDismissal { options.insert(.customDismissAction) }
    if allowsCarPlay { options.insert(.allowInCarPlay) }
    return UNNotificationCategory(
      identifier: identifier, actions: actions.map { $0.makeAction() }, intentIdentifiers: [],
      hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder, categorySummaryFormat: nil, options: options)
  }
}

extension PhoneState.Category.Action {
  func makeAction() -> UNNotificationAction {
    if let textInput {
      UNTextInputNotificationAction(
        identifier: identifier, title: title, options: options, textInputButtonTitle: textInput.button,
        textInputPlaceholder: textInput.placeholder)
    } else {
      UNNotificationAction(identifier: identifier, title: title, options: options)
    }
  }
}
#endif
