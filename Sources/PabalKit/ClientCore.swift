internal import Foundation
internal import PabalPrimitives

/// What lies behind `PabalClient`: the main actor's side. It decides what must be decided at once (how a notification
/// shows, where a tap leads) and gives everything else to the engine.
///
/// The client holds it, and so does the notification delegate; it holds neither.
@available(iOSApplicationExtension, unavailable)
@MainActor final class ClientCore {
  typealias InteractionHandler = @MainActor @Sendable (PabalInteraction) async -> Void

  let configuration: PabalClient.Configuration
  let system: LiveSystem
  let screens = PabalScreens()
  let registration = Broadcast<PabalRegistration>()
  let authorization = Broadcast<PabalAuthorization>()
  nonisolated let inbox: EngineInbox
  private let engine: PabalEngine
  private let requests: APIRequests
  private let tasks = OwnedTasks()
  private var gate = RouteGate()
  private var ledger = InteractionLedger()
  private var handler: InteractionHandler?
  private var waiting: [PabalInteraction] = []
  private var perform: ((PabalLink) -> Void)?
  private nonisolated let activity: PabalActivity

  init(_ configuration: PabalClient.Configuration) {
    self.configuration = configuration
    system = LiveSystem()
    let environment = configuration.environment
    activity = environment.activity
    inbox = EngineInbox(activity: environment.activity)
    requests = APIRequests(server: configuration.server, key: configuration.key)
    let link = Link()
    engine = PabalEngine(
      PabalEngine.Setup(
        server: configuration.server, key: configuration.key, appGroup: configuration.appGroup,
        apnsEnvironment: configuration.apnsEnvironment),
      environment: environment, inbox: inbox, output: { link.core?.take($0) })
    link.core = self
  }

  deinit {
    inbox.close()
  }

  private final class Link: Sendable {
    @MainActor weak var core: ClientCore?

    nonisolated init() {}
  }

  private var environment: PabalEnvironment { configuration.environment }

  /// From any thread to the main actor, in order.
  nonisolated func onMain(_ body: @escaping @MainActor @Sendable (ClientCore) -> Void) {
    let end = activity.begin()
    DispatchQueue.main.async {
      MainActor.assumeIsolated { body(self) }
      end()
    }
  }

  func start() {
    system.install(configuration.actionCategories)
    system.registerForRemoteNotifications()
    system.onForeground { [weak self] in self?.cameToFront() }
    system.onBackground { [weak self] done in self?.leftFront(done) }
    tasks.run { [engine] in await engine.run() }
    cameToFront()
  }

  /// Permission may have changed in Settings, extensions may have left receipts, the network may be back.
  private func cameToFront() {
    inbox.put(.nudge)
    readAuthorization()
  }

  /// Last chance for some time to report what was seen and tapped.
  private func leftFront(_ done: @escaping @MainActor @Sendable () -> Void) {
    let inbox = inbox
    tasks.run {
      await inbox.handle(.flush)
      done()
    }
  }

  func stop() {
    system.stopObserving()
  }

  private func readAuthorization() {
    let end = activity.begin()
    tasks.run { [weak self] in
      await self?.refreshAuthorization()
      end()
    }
  }

  @discardableResult
  func refreshAuthorization() async -> PabalAuthorization {
    let current = await system.authorization()
    authorization.send(current)
    inbox.put(.registration(.authorization(current)))
    return current
  }

  func flush() async {
    await refreshAuthorization()
    await inbox.handle(.flush)
  }

  /// A call on behalf of the signed-in user.
  func call(_ make: (APIRequests, UserID) -> HTTPCall) async throws -> HTTPAnswer {
    guard let user = await engine.user else {
      throw PabalError(code: "not_signed_in", message: "Nobody is signed in. Call signIn(userID:) first.")
    }
    let end = activity.begin()
    defer { end() }
    let outcome: CallOutcome
    do {
      outcome = CallOutcome(try await environment.http.send(make(requests, user)))
    } catch {
      outcome = CallOutcome(failure: error)
    }
    switch outcome {
    case .accepted(let answer): return answer
    case .later(let error, _), .refused(_, let error): throw error
    }
  }

  func recentProblems() async -> [PabalError] {
    await engine.recentProblems
  }

  private func take(_ output: EngineOutput) {
    switch output {
    case .registration(let state):
      registration.send(state)
    case .account(let epoch, let changed):
      gate.accountIs(epoch: epoch, changed: changed)
      // What is left on the screen was written for the account before.
      if changed, epoch > 1 {
        system.removeDeliveredNotifications()
        waiting = []
      }
      showHeldRoutes()
    case .unhandled(let interactions):
      for interaction in interactions where ledger.insert(interaction.id) { deliver(interaction) {} }
    }
  }

  // MARK: - Presentation

  /// Decides, and reports what the user will see.
  func present(_ notification: PabalNotification) -> PabalPresentation {
    let presentation = configuration.presentation.presentation(for: notification, over: screens.visible)
    inbox.put(.drainMailbox)
    let now = environment.clock.wall()
    var events: [ClientEvent] = []
    if let identity = notification.identity { events.append(.received(identity, at: now)) }
    if !presentation.isDisjoint(with: [.banner, .list]), let shown = ClientEvent.presented(notification, at: now) {
      events.append(shown)
    }
    if !events.isEmpty { inbox.put(.record(events)) }
    return presentation
  }

  // MARK: - Interactions

  /// One tap, whoever reports it: the first report is handled, the others are only answered.
  ///
  /// - Parameter done: called once: when the app's handler has returned, or after 20 seconds, since the system waits.
  func receive(_ interaction: PabalInteraction, done: @escaping @MainActor @Sendable () -> Void) {
    guard ledger.insert(interaction.id) else { return done() }
    if case .open = interaction.kind { offer(RouteGate.Route(link: interaction.notification.link)) }
    let answer = AnswerOnce<Void> { _ in MainActor.assumeIsolated { done() } }
    let timer = environment.timers.schedule(ClientLimits.handlerTime) { [weak self] in
      self?.onMain { _ in answer.give(()) }
    }
    inbox.put(.drainMailbox)
    let end = activity.begin()
    tasks.run { [weak self] in
      // On disk before anybody acts on it: if the process dies, the next one tells the app again, with the same id.
      await self?.inbox.handle(.interaction(interaction))
      self?.deliver(interaction) {
        timer.cancel()
        answer.give(())
      }
      end()
    }
  }

  func setHandler(_ new: @escaping InteractionHandler) {
    handler = new
    let held = waiting
    waiting = []
    for interaction in held { deliver(interaction) {} }
  }

  private func deliver(_ interaction: PabalInteraction, done: @escaping @MainActor @Sendable () -> Void) {
    guard let handler else {
      done()
      switch interaction.kind {
      case .open, .dismiss:
        // The route gate has it, or there is nothing left to do.
        inbox.put(.interactionHandled(id: interaction.id))
      case .action, .reply:
        waiting.append(interaction)
        if waiting.count > ClientLimits.waitingInteractions { waiting.removeFirst() }
      }
      return
    }
    let end = activity.begin()
    let inbox = inbox
    tasks.run {
      await handler(interaction)
      if !Task.isCancelled { inbox.put(.interactionHandled(id: interaction.id)) }
      done()
      end()
    }
  }

  // MARK: - Routes

  private func offer(_ route: RouteGate.Route) {
    if let route = gate.offer(route, now: environment.clock.monotonic()) { perform?(route.link) }
  }

  func routes(ready: Bool, perform new: ((PabalLink) -> Void)?) {
    if let new { perform = new }
    guard ready, perform != nil else { return gate.becomeUnready() }
    gate.becomeReady()
    showHeldRoutes()
  }

  func consumeLaunchLink() -> PabalLink? {
    gate.consume(now: environment.clock.monotonic())
  }

  private func showHeldRoutes() {
    while let perform, let route = gate.next(now: environment.clock.monotonic()) { perform(route.link) }
  }
}

enum ClientLimits {
  /// The system gives an app about 30 seconds in the background to handle a button.
  static let handlerTime = Duration.seconds(20)
  /// Buttons pressed before the app has said who handles them.
  static let waitingInteractions = 32
}

/// The screens that the user sees now.
@MainActor public final class PabalScreens {
  private var counts: [PabalScreen: Int] = [:]

  var visible: Set<PabalScreen> { Set(counts.keys) }

  /// A screen appeared; one that appears twice must leave twice.
  public func enter(_ screen: PabalScreen) {
    counts[screen, default: 0] += 1
  }

  public func leave(_ screen: PabalScreen) {
    guard let count = counts[screen] else { return }
    counts[screen] = count > 1 ? count - 1 : nil
  }
}
