internal import APNs
internal import Delivery
internal import HTTP2
internal import PabalModel
internal import PabalPrimitives

/// Runs the provider-token machine: signs when it says so, and keeps the header templates that carry the token.
///
/// A certificate was shown in TLS already: nothing is signed, no token is carried, and only APNs' refusal of it stops
/// the pushes.
///
/// Signing takes some 25 microseconds once in 50 minutes, so it happens on the loop.
struct CredentialKeeper {
  enum Permission {
    case write(generation: Int)
    case wait
    case refused(ReasonCode)
  }

  /// `nil`: a certificate speaks for us.
  private let credential: APNsTokenCredential?
  private let clock: Clock
  private let authority: String
  private var machine: ProviderTokenMachine
  private var tokens: [Int: String] = [:]
  private var current: Permission = .wait
  private var approvedGeneration = 0
  private(set) var renewalAt: Instant?

  private var templates: [APNsHead: HTTP2HeaderTemplate] = [:]
  private var templateGeneration = 0
  private var lastHead: APNsHead?
  private var lastTemplate: HTTP2HeaderTemplate?

  init(credential: APNsCredential, clock: Clock, authority: String, planted: PlantedBug? = nil) {
    machine = ProviderTokenMachine(plantedRemintLoop: planted == .remintLoop)
    self.authority = authority
    self.clock = clock
    switch credential {
    case .token(let token): self.credential = token
    case .certificate:
      self.credential = nil
      current = .write(generation: 0)
    }
  }

  /// What pushes about to be written may do.
  mutating func permission(now: Instant) -> Permission {
    if credential != nil { run(machine.handle(.tokenNeeded, now: now), now: now) }
    return current
  }

  mutating func approve(generation: Int, now: Instant) {
    guard generation != approvedGeneration, credential != nil else { return }
    approvedGeneration = generation
    run(machine.handle(.approved(generation: generation), now: now), now: now)
  }

  mutating func handle(_ event: ProviderTokenMachine.Event, now: Instant) {
    guard credential != nil else {
      if case .credentialRefused(let reason) = event { current = .refused(reason) }
      return
    }
    run(machine.handle(event, now: now), now: now)
  }

  /// Why nothing may be written, if so.
  var refusal: ReasonCode? {
    if case .refused(let reason) = current { reason } else { nil }
  }

  mutating func wake(now: Instant) {
    guard let renewalAt, now >= renewalAt else { return }
    self.renewalAt = nil
    run(machine.handle(.renewalDue, now: now), now: now)
  }

  /// Everything but path, `apns-id` and body of a push with this head.
  mutating func template(for head: APNsHead, generation: Int) -> HTTP2HeaderTemplate {
    if generation != templateGeneration || templates.count >= TransportLimits.templates {
      templates = [:]
      lastHead = nil
      templateGeneration = generation
    }
    if let lastHead, let lastTemplate, lastHead == head { return lastTemplate }
    let template = templates[head] ?? makeTemplate(for: head, generation: generation)
    templates[head] = template
    lastHead = head
    lastTemplate = template
    return template
  }

  private func makeTemplate(for head: APNsHead, generation: Int) -> HTTP2HeaderTemplate {
    let authorization = credential == nil ? [] : [("authorization", "bearer " + (tokens[generation] ?? ""))]
    return HTTP2HeaderTemplate(
      authority: authority, headers: authorization + head.headers.map { ($0.name, $0.value) },
      varying: APNsHead.varyingHeaders, uniqueHeader: "apns-id")
  }

  private mutating func run(_ actions: [ProviderTokenMachine.Action], now: Instant) {
    for action in actions {
      switch action {
      case .mint(let generation): mint(generation, now: now)
      case .use(let generation): current = .write(generation: generation)
      case .wait: break  // Minting is synchronous here: it has said what holds by now.
      case .scheduleRenewal(let delay): renewalAt = now.advanced(by: delay)
      case .refuse(let reason): current = .refused(reason)
      }
    }
  }

  private mutating func mint(_ generation: Int, now: Instant) {
    current = .wait
    guard let credential else { return }
    do {
      let token = try credential.token(at: clock.wall(), unwanted: Array(tokens.values))
      tokens[generation] = token.text
      // APNs may be asked to go back to the token before; older ones are of no use.
      tokens = tokens.filter { $0.key >= generation - 1 }
      run(machine.handle(.minted(generation: generation, age: token.age), now: now), now: now)
    } catch {
      run(machine.handle(.mintFailed, now: now), now: now)
    }
  }
}
