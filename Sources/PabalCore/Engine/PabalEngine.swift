package import Foundation
internal import PabalMailbox
package import PabalModel
internal import PabalPrimitives

/// Runs the machines: feeds them inputs one after the other, does what they say, and feeds back how it went.
///
/// Everything that touches disk, keychain or network happens here, on a queue of its own; the main actor only hears of
/// results. `run()` ends when the inbox is closed or its task is canceled, and with it every call under way.
package actor PabalEngine {
  package struct Setup: Sendable {
    package var server: URL
    package var key: String
    package var appGroup: String
    package var apnsEnvironment: PushEnvironment?

    package init(server: URL, key: String, appGroup: String, apnsEnvironment: PushEnvironment?) {
      self.server = server
      self.key = key
      self.appGroup = appGroup
      self.apnsEnvironment = apnsEnvironment
    }
  }

  /// What a step leaves to do outside of the actor.
  private struct Effects {
    var calls: [(call: HTTPCall, result: @Sendable (CallOutcome) -> EngineInput)] = []
    var outputs: [EngineOutput] = []
  }

  private let environment: PabalEnvironment
  private let inbox: EngineInbox
  private let requests: APIRequests
  private let output: @MainActor @Sendable (EngineOutput) -> Void
  private let mailbox: Mailbox?
  private let accountFolder: String
  private let eventFolder: String
  private let interactionFolder: String
  private let executor = QueueExecutor(label: "pabal.engine")

  private var registration: RegistrationMachine
  private var upload: UploadMachine
  private var journal: EventJournal?
  private var batch: EventJournal.Batch?
  private var registrationTimer: PabalTimer?
  private var uploadTimer: PabalTimer?
  private var unsavedAccount: AccountRecord?
  private var unsavedInstall: InstallRecord?
  private var unwritten: [ClientEvent] = []
  private var restored = false
  private var flushes: [EngineItem] = []
  private var problems = RingBuffer<PabalError>(capacity: 32)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  package init(
    _ setup: Setup, environment: PabalEnvironment, inbox: EngineInbox,
    output: @escaping @MainActor @Sendable (EngineOutput) -> Void
  ) {
    self.environment = environment
    self.inbox = inbox
    self.output = output
    requests = APIRequests(server: setup.server, key: setup.key)
    registration = RegistrationMachine(
      environment: setup.apnsEnvironment, clock: environment.clock, randomness: environment.randomness)
    upload = UploadMachine(randomness: environment.randomness)
    accountFolder = environment.container.path
    eventFolder = environment.container.path + "/events"
    interactionFolder = environment.container.path + "/interactions"
    mailbox = environment.sharedContainer(setup.appGroup).map {
      Mailbox(folder: $0.path, files: environment.files, randomness: environment.randomness)
    }
  }

  /// What went wrong lately on this device, newest last; for the app's own diagnosis.
  package var recentProblems: [PabalError] { Array(problems) }

  /// Who is signed in on this install; `nil` also before that could be read.
  package var user: UserID? { registration.user }

  package func run() async {
    await withDiscardingTaskGroup { group in
      for await item in inbox.items {
        let effects = step(item)
        for effect in effects.calls {
          let end = environment.activity.begin()
          group.addTask { [environment, inbox] in
            let outcome: CallOutcome
            do {
              outcome = CallOutcome(try await environment.http.send(effect.call))
            } catch {
              outcome = CallOutcome(failure: error)
            }
            inbox.put(effect.result(outcome))
            end()
          }
        }
        for output in effects.outputs { await self.output(output) }
        withExtendedLifetime(item) {}
      }
      group.cancelAll()
    }
  }

  // MARK: - Steps

  private func step(_ item: EngineItem) -> Effects {
    var effects = Effects()
    saveWhatFailed()
    switch item.input {
    case .registration(let event):
      apply(registration.handle(event), &effects)
    case .registrationTimer:
      refreshFacts(&effects)
      apply(registration.handle(.retryDue), &effects)
    case .registrationFinished(let outcome):
      apply(registration.handle(.finished(outcome)), &effects)
    case .record(let events):
      record(events, &effects)
    case .interaction(let interaction):
      keep(interaction)
      record([ClientEvent.of(interaction, at: environment.clock.wall())].compactMap { $0 }, &effects)
    case .interactionHandled(let id):
      attempt { () throws(DurableFileError) in try environment.files.remove("\(interactionFolder)/\(id)") }
    case .uploadTimer:
      apply(upload.handle(.retryDue), &effects)
    case .uploadFinished(let outcome):
      if case .refused(_, let error) = outcome { problems.append(error) }
      apply(upload.handle(.finished(outcome)), &effects)
    case .drainMailbox:
      drainMailbox(&effects)
    case .nudge:
      nudge(&effects)
    case .flush:
      nudge(&effects)
      flushes.append(item)
    }
    if registration.isAtRest, upload.isAtRest { flushes.removeAll() }
    return effects
  }

  private func nudge(_ effects: inout Effects) {
    refreshFacts(&effects)
    apply(registration.handle(.nudge), &effects)
    drainMailbox(&effects)
    restoreInteractions(&effects)
    apply(upload.handle(.nudge), &effects)
  }

  private func refreshFacts(_ effects: inout Effects) {
    apply(registration.handle(.application(environment.application())), &effects)
  }

  private func apply(_ actions: [RegistrationMachine.Action], _ effects: inout Effects) {
    for action in actions {
      switch action {
      case .load:
        apply(registration.handle(load()), &effects)
      case .saveInstall(let record):
        unsavedInstall = record
        saveWhatFailed()
      case .saveAccount(let record):
        unsavedAccount = record
        saveWhatFailed()
      case .send(let body, let secret):
        let call = requests.put(body, installSecret: secret)
        effects.calls.append((call, { .registrationFinished($0) }))
      case .schedule(let delay):
        registrationTimer?.cancel()
        registrationTimer = environment.timers.schedule(delay) { [inbox] in inbox.put(.registrationTimer) }
      case .cancelTimer:
        registrationTimer?.cancel()
        registrationTimer = nil
      case .report(let state):
        if case .failed(let error, _) = state { problems.append(error) }
        effects.outputs.append(.registration(state))
      case .account(let epoch, _, let changed):
        if changed { forgetInteractions() }
        effects.outputs.append(.account(epoch: epoch, changed: changed))
      }
    }
  }

  private func apply(_ actions: [UploadMachine.Action], _ effects: inout Effects) {
    for action in actions {
      switch action {
      case .sendNext:
        sendNext(&effects)
      case .acknowledge:
        attempt { () throws(DurableFileError) in
          if let name = batch?.name { try journal?.acknowledge(name) }
        }
        batch = nil
      case .quarantine:
        attempt { () throws(DurableFileError) in
          if let name = batch?.name { try journal?.quarantine(name) }
        }
        batch = nil
      case .schedule(let delay):
        uploadTimer?.cancel()
        uploadTimer = environment.timers.schedule(delay) { [inbox] in inbox.put(.uploadTimer) }
      case .cancelTimer:
        uploadTimer?.cancel()
        uploadTimer = nil
      }
    }
  }

  private func sendNext(_ effects: inout Effects) {
    attempt { () throws(DurableFileError) in
      try openJournal()
      batch = try journal?.nextBatch()
    }
    guard let batch else {
      apply(upload.handle(.nothingToSend), &effects)
      return
    }
    effects.calls.append((requests.post(events: batch.events), { .uploadFinished($0) }))
  }

  // MARK: - Disk and keychain

  private func load() -> RegistrationMachine.Event {
    do {
      let install = try environment.keychain.read(InstallRecord.name).flatMap(InstallRecord.init)
      let account = try environment.files.read("\(accountFolder)/\(AccountRecord.name)").flatMap(AccountRecord.init)
      return .loaded(install, account)
    } catch {
      note(error)
      return .unreadable
    }
  }

  private func saveWhatFailed() {
    do {
      if let account = unsavedAccount {
        try environment.files.replace(AccountRecord.name, in: accountFolder, with: account.encoded)
        unsavedAccount = nil
      }
      if let install = unsavedInstall {
        try environment.keychain.write(InstallRecord.name, install.encoded)
        unsavedInstall = nil
      }
    } catch {
      note(error)
    }
  }

  private func record(_ events: [ClientEvent], _ effects: inout Effects) {
    unwritten = Array((unwritten + events).suffix(EventLimits.batch))
    guard !unwritten.isEmpty else { return }
    attempt { () throws(DurableFileError) in
      try openJournal()
      if try journal?.append(unwritten) != nil { unwritten = [] }
    }
    apply(upload.handle(.appended), &effects)
  }

  private func openJournal() throws(DurableFileError) {
    if journal == nil { journal = try EventJournal(folder: eventFolder, files: environment.files) }
  }

  private func drainMailbox(_ effects: inout Effects) {
    guard let mailbox else { return }
    attempt { () throws(DurableFileError) in
      let entries = try mailbox.entries()
      guard !entries.isEmpty else { return }
      let events = entries.map { entry in
        ClientEvent.received(
          PushIdentity(
            message: MessageID(rawValue: entry.record.messageID),
            delivery: DeliveryID(rawValue: entry.record.deliveryID)),
          at: entry.record.receivedAt)
      }
      record(events, &effects)
      if unwritten.isEmpty { try mailbox.remove(entries) }
    }
  }

  private func keep(_ interaction: PabalInteraction) {
    attempt { () throws(DurableFileError) in
      try environment.files.replace(
        interaction.id, in: interactionFolder, with: InteractionRecord.encode(interaction))
    }
  }

  /// Once a process: what an earlier one had not finished handling.
  private func restoreInteractions(_ effects: inout Effects) {
    guard !restored else { return }
    restored = true
    attempt { () throws(DurableFileError) in
      var found: [PabalInteraction] = []
      for name in try environment.files.list(interactionFolder).prefix(EngineLimits.unhandledInteractions) {
        guard
          let interaction = try environment.files.read("\(interactionFolder)/\(name)").flatMap(InteractionRecord.decode)
        else {
          try environment.files.remove("\(interactionFolder)/\(name)")
          continue
        }
        found.append(interaction)
      }
      if !found.isEmpty { effects.outputs.append(.unhandled(found)) }
    }
  }

  /// What the last account had not finished is nobody's now.
  private func forgetInteractions() {
    attempt { () throws(DurableFileError) in
      for name in try environment.files.list(interactionFolder) {
        try environment.files.remove("\(interactionFolder)/\(name)")
      }
    }
  }

  private func attempt(_ body: () throws(DurableFileError) -> Void) {
    do throws(DurableFileError) {
      try body()
    } catch {
      note(error)
    }
  }

  private func note(_ error: any Error) {
    let coded = error as? any CodedError
    problems.append(
      PabalError(
        code: coded?.code ?? "device_error", message: coded?.message ?? "The device refused an operation.", cause: error
      ))
  }
}

enum EngineLimits {
  /// More unhandled taps than this were not made by one person before one crash.
  static let unhandledInteractions = 32
}
