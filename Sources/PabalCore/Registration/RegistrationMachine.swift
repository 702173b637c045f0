package import PabalModel
package import PabalPrimitives

/// Keeps the server's picture of this install right, whatever order things happen in and whatever fails.
///
/// Inputs are facts (a token, the user's permission, who is signed in) and the fates of calls; outputs are things to
/// do. The whole state is sent each time, one call at a time, when its hash differs from what the server acknowledged
/// last or when that was a week ago. Nothing is sent without a device token, except a sign-out, which must not wait.
/// Account changes are saved before they are acknowledged to the app and outlive the process.
package struct RegistrationMachine: Sendable {
  package enum Event: Sendable {
    /// What keychain and folder hold; `nil` means absent, and only that.
    case loaded(InstallRecord?, AccountRecord?)
    /// They cannot be read yet.
    case unreadable
    case token(DeviceToken)
    case tokenFailed(PabalError)
    case authorization(PabalAuthorization)
    case application(PabalApplicationFacts)
    case signIn(UserID)
    case signOut
    case finished(CallOutcome)
    case retryDue
    /// A good moment to try again at once: launch, foreground, the app's own wish.
    case nudge
  }

  package enum Action: Sendable, Equatable {
    case load
    case saveInstall(InstallRecord)
    case saveAccount(AccountRecord)
    case send(DeviceStateBody, installSecret: String?)
    case schedule(Duration)
    case cancelTimer
    case report(PabalRegistration)
    case account(epoch: Int, user: UserID?, changed: Bool)
  }

  private enum Records: Sendable {
    /// Can transition to: known.
    case unread
    case known(InstallRecord, AccountRecord)
  }

  private enum Call: Sendable {
    /// Can transition to: inFlight, waiting (the keychain was locked).
    case none
    /// Can transition to: none, waiting, stopped.
    case inFlight(hash: String)
    /// Until a timer or a nudge. Can transition to: none, inFlight.
    case waiting(PabalError)
    /// Refused for this state. Can transition to: inFlight, once the state differs or on a nudge.
    case stopped(hash: String, PabalError)
  }

  private enum Wish: Sendable {
    case signIn(UserID)
    case signOut
  }

  private let environment: PushEnvironment?
  private let clock: PabalPrimitives.Clock
  private let randomness: Randomness
  private var records = Records.unread
  private var call = Call.none
  private var wish: Wish?
  private var token: DeviceToken?
  private var tokenError: PabalError?
  private var authorization: PabalAuthorization?
  private var facts: PabalApplicationFacts?
  private var backOff = BackOff()
  private var reported: PabalRegistration?

  /// - Parameter environment: the app's own word on which of Apple's services issued its token; wins over the profile.
  package init(environment: PushEnvironment?, clock: PabalPrimitives.Clock, randomness: Randomness) {
    self.environment = environment
    self.clock = clock
    self.randomness = randomness
  }

  /// Nothing is in flight, and nothing will be sent before a timer or a new fact.
  package var isAtRest: Bool {
    if case .inFlight = call { return false }
    return true
  }

  package var user: UserID? {
    if case .known(_, let account) = records { return account.user }
    return nil
  }

  package var isLoaded: Bool {
    if case .known = records { return true }
    return false
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .loaded(let install, let account):
      return loaded(install, account)
    case .unreadable:
      let wait = backOff.next(retryAfter: nil, randomness: randomness)
      call = .waiting(PabalError(code: "keychain_locked", message: PabalKeychainError(.lockedYet).message))
      return [.schedule(wait)] + report(retryAfter: wait)
    case .token(let new):
      token = new
      tokenError = nil
      return proceed()
    case .tokenFailed(let error):
      tokenError = error
      return proceed()
    case .authorization(let new):
      authorization = new
      return proceed()
    case .application(let new):
      facts = new
      return proceed()
    case .signIn(let user):
      wish = .signIn(user)
      return fulfilWish() + proceed()
    case .signOut:
      wish = .signOut
      return fulfilWish() + proceed()
    case .finished(let outcome):
      return finished(outcome)
    case .retryDue:
      if case .waiting = call { call = .none }
      return isLoaded ? proceed() : [.load]
    case .nudge:
      return nudged()
    }
  }

  private mutating func nudged() -> [Action] {
    var actions: [Action] = []
    switch call {
    case .waiting:
      call = .none
      actions.append(.cancelTimer)
    case .stopped: call = .none
    case .none, .inFlight: break
    }
    return actions + (isLoaded ? proceed() : [.load])
  }

  // MARK: - Install and account

  private mutating func loaded(_ install: InstallRecord?, _ account: AccountRecord?) -> [Action] {
    guard !isLoaded else { return [] }
    call = .none
    backOff.reset()
    var actions: [Action] = []
    var current = install ?? InstallRecord(id: Self.newInstallID(randomness))
    var changed = false
    let known: AccountRecord
    if var account {
      // A crash between the two writes of a change leaves the keychain behind.
      account.epoch = max(account.epoch, current.epoch)
      known = account
    } else {
      // Deleted and installed again: the old account must not get this phone's pushes any more.
      let reinstalled = install != nil
      known = AccountRecord(user: nil, epoch: current.epoch + (reinstalled ? 1 : 0))
      changed = reinstalled
      actions.append(.saveAccount(known))
    }
    if install == nil || current.epoch != known.epoch {
      current.epoch = known.epoch
      actions.append(.saveInstall(current))
    }
    records = .known(current, known)
    actions.append(.account(epoch: known.epoch, user: known.user, changed: changed))
    return actions + fulfilWish() + proceed()
  }

  private mutating func fulfilWish() -> [Action] {
    guard let wish, case .known(var install, var account) = records else { return [] }
    self.wish = nil
    let user: UserID? =
      switch wish {
      case .signIn(let user): user
      case .signOut: nil
      }
    guard user != account.user else { return [] }
    account.user = user
    account.epoch += 1
    install.epoch = account.epoch
    records = .known(install, account)
    // The account first: a sign-out that is saved only in part is still a sign-out.
    return [
      .saveAccount(account), .saveInstall(install), .account(epoch: account.epoch, user: user, changed: true),
    ]
  }

  private static func newInstallID(_ randomness: Randomness) -> InstallID {
    InstallID(rawValue: Hex.encode(randomness.fill(16)))
  }

  // MARK: - Calls

  private mutating func proceed() -> [Action] {
    guard let body = nextBody() else { return report() }
    switch call {
    case .inFlight, .waiting: return report()
    case .stopped(let hash, _) where hash == body.hash: return report()
    case .none, .stopped: break
    }
    guard case .known(let install, _) = records else { return [] }
    call = .inFlight(hash: body.hash)
    return [.send(body, installSecret: install.secret)] + report()
  }

  /// What the server should know and does not.
  private func nextBody() -> DeviceStateBody? {
    guard case .known(let install, let account) = records, let facts, let authorization else { return nil }
    let mustUnlink = account.user == nil && account.epoch > 0
    guard token != nil || mustUnlink else { return nil }
    let body = DeviceStateBody(
      installID: install.id, epoch: account.epoch, user: account.user, token: token,
      environment: environment ?? facts.apnsEnvironment.flatMap(PushEnvironment.init(rawValue:)), facts: facts,
      authorization: authorization)
    return isAcknowledged(body.hash, account) ? nil : body
  }

  private func isAcknowledged(_ hash: String, _ account: AccountRecord) -> Bool {
    guard account.acknowledged == hash, let at = account.acknowledgedAt else { return false }
    let age = at.duration(to: clock.wall())
    return age < RegistrationLimits.refresh && .zero - age < RegistrationLimits.refresh
  }

  private mutating func finished(_ outcome: CallOutcome) -> [Action] {
    guard case .inFlight(let hash) = call, case .known(var install, var account) = records else { return [] }
    call = .none
    switch outcome {
    case .later(let error, let retryAfter):
      let wait = backOff.next(retryAfter: retryAfter, randomness: randomness)
      call = .waiting(error)
      return [.schedule(wait)] + report(retryAfter: wait)
    case .refused(_, let error):
      call = .stopped(hash: hash, error)
      return proceed()
    case .accepted(let answer):
      guard let said = DeviceStateAnswer(body: answer.body) else {
        return finishedByStranger(hash)
      }
      backOff.reset()
      var actions: [Action] = []
      if let secret = said.installSecret, secret != install.secret { install.secret = secret }
      if said.superseded {
        guard let epoch = said.epoch, epoch >= account.epoch else {
          call = .stopped(hash: hash, Self.superseded)
          return proceed()
        }
        account.epoch = epoch + 1
        install.epoch = account.epoch
        actions.append(.account(epoch: account.epoch, user: account.user, changed: false))
      } else {
        account.acknowledged = hash
        account.acknowledgedAt = clock.wall()
      }
      records = .known(install, account)
      return actions + [.saveAccount(account), .saveInstall(install)] + proceed()
    }
  }

  /// A 2xx that our server cannot have written: a captive portal, a wrong address.
  private mutating func finishedByStranger(_ hash: String) -> [Action] {
    let error = PabalError(
      code: "answer_not_understood",
      message: "Something other than Pabal answered. Check the server address and the network's log-in page.")
    let wait = backOff.next(retryAfter: nil, randomness: randomness)
    call = .waiting(error)
    return [.schedule(wait)] + report(retryAfter: wait)
  }

  private static let superseded = PabalError(
    code: "superseded",
    message: "The server knows a later state of this install. Sign in again to make this one current.")

  private mutating func report(retryAfter: Duration? = nil) -> [Action] {
    let state: PabalRegistration
    switch call {
    case .inFlight: state = .pending
    case .waiting(let error):
      guard let retryAfter else { return [] }
      state = .failed(error, retryAt: .init(wall: clock.wall().advanced(by: retryAfter)))
    case .stopped(_, let error): state = .failed(error, retryAt: nil)
    case .none:
      if token == nil {
        state = tokenError.map { .failed($0, retryAt: nil) } ?? .waitingForAPNs
      } else {
        state = isLoaded && facts != nil && authorization != nil ? .registered : .pending
      }
    }
    guard state != reported else { return [] }
    reported = state
    return [.report(state)]
  }
}

package enum RegistrationLimits {
  /// An unchanged state is sent again after this time, so that the server can tell a sleeping install from a dead one.
  package static let refresh = Duration.seconds(7 * 86_400)
}
