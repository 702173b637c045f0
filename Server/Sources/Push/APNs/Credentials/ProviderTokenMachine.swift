package import PabalModel
package import PabalPrimitives

/// Decides when the provider token of one (team, key) is made, kept and renewed.
///
/// APNs wants a token renewed no more often than every 20 minutes and no less often than every 60. All pushes of the
/// pair share one token, whatever their topic or connection: one mint is under way at a time, the signed text is
/// kept. Age is monotonic; a jump of the wall clock changes nothing.
///
/// A token that is refused as expired is replaced once. If the replacement is refused too, this machine's clock is
/// wrong, not the token: nothing more is signed for 20 minutes, so that a clock fault never becomes a storm of 429s.
///
/// Tokens are named by generation, a number that grows by one with each mint.
package struct ProviderTokenMachine: Sendable {
  package static let renewalAge = Duration.seconds(50 * 60)
  package static let maximumAge = Duration.seconds(55 * 60)
  /// Apple's "not more than once every 20 minutes".
  package static let updateInterval = Duration.seconds(20 * 60)

  package enum Event: Sendable {
    /// Pushes are about to be written.
    case tokenNeeded
    /// The mint of `generation` succeeded. A token that was shared by another process has an age already.
    case minted(generation: Int, age: Duration = .zero)
    /// The mint failed: the key cannot sign.
    case mintFailed
    /// The timer of `scheduleRenewal` fired.
    case renewalDue
    /// A reply that proves the token of `generation` good (200, or any refusal that is not about the token).
    case approved(generation: Int)
    /// 403 ExpiredProviderToken for a push that carried `generation`.
    case refusedAsExpired(generation: Int)
    /// 429 TooManyProviderTokenUpdates for a push that carried `generation`.
    case refusedAsTooMany(generation: Int)
    /// 403 InvalidProviderToken, BadEnvironmentKey…InToken, MissingProviderToken: the credential itself is no good.
    case credentialRefused(ReasonCode)
  }

  package enum Action: Hashable, Sendable {
    /// Sign with the current wall time; answer with `minted` or `mintFailed`.
    case mint(generation: Int)
    /// Write pushes with this token; those that wait may go.
    case use(generation: Int)
    /// A mint is under way: hold the pushes until `use` or `refuse`.
    case wait
    /// Deliver `renewalDue` after this time.
    case scheduleRenewal(after: Duration)
    /// End the pushes that wait, and those asking, with this reason; nothing is signed.
    case refuse(ReasonCode)
  }

  private struct Token: Sendable {
    let generation: Int
    let mintedAt: Instant
    /// Whether pushes were written with it: an idle credential is not renewed.
    var wasUsed: Bool
    var wasApproved = false
    /// Made because its predecessor was refused as expired.
    let isReplacement: Bool
  }

  private enum State: Sendable {
    /// Can transition to: minting.
    case empty
    /// Can transition to: valid, stopped. `previous` is still used while it is young enough.
    case minting(previous: Token?, isReplacement: Bool)
    /// Can transition to: minting, stopped.
    case valid(Token)
    /// Can transition to: minting, once `until` is past; never when it is `nil`.
    case stopped(ReasonCode, until: Instant?)
  }

  private var state = State.empty
  private var lastGeneration = 0
  /// The token before the current one, in case APNs refuses the change itself.
  private var retired: Token?
  /// After a refused change the token before it is kept as long as it may be used at all.
  private var mintsNotBefore = Instant.zero

  /// For the simulation, which proves itself by finding it: a replacement that is refused is replaced again.
  private let plantedRemintLoop: Bool

  package init(plantedRemintLoop: Bool = false) {
    self.plantedRemintLoop = plantedRemintLoop
  }

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    switch event {
    case .tokenNeeded: tokenNeeded(now)
    case .minted(let generation, let age): minted(generation, age, now)
    case .mintFailed: stop(.credentialMissing, until: nil)
    case .renewalDue: renewalDue(now)
    case .approved(let generation): approved(generation)
    case .refusedAsExpired(let generation): refusedAsExpired(generation, now)
    case .refusedAsTooMany(let generation): refusedAsTooMany(generation, now)
    case .credentialRefused(let reason): stop(reason, until: nil)
    }
  }

  private mutating func tokenNeeded(_ now: Instant) -> [Action] {
    switch state {
    case .empty:
      return startMint(previous: nil, isReplacement: false)
    case .minting(let previous?, let isReplacement) where age(of: previous, now) < Self.maximumAge && !isReplacement:
      return [.use(generation: previous.generation)]
    case .minting:
      return [.wait]
    case .valid(var token):
      token.wasUsed = true
      state = .valid(token)
      let age = age(of: token, now)
      let mayMint = age >= Self.maximumAge || now >= mintsNotBefore
      if age < Self.renewalAge || !mayMint { return [.use(generation: token.generation)] }
      let usable = age < Self.maximumAge ? token : nil
      let mint = startMint(previous: usable, isReplacement: false)
      return usable.map { mint + [.use(generation: $0.generation)] } ?? mint
    case .stopped(let reason, let until):
      guard let until, until <= now else { return [.refuse(reason)] }
      return startMint(previous: nil, isReplacement: false)
    }
  }

  private mutating func minted(_ generation: Int, _ age: Duration, _ now: Instant) -> [Action] {
    guard case .minting(let previous, let isReplacement) = state, generation == lastGeneration else { return [] }
    retired = previous ?? retired
    state = .valid(
      Token(
        generation: generation, mintedAt: now.advanced(by: .zero - age), wasUsed: previous == nil,
        isReplacement: isReplacement))
    return [.use(generation: generation), .scheduleRenewal(after: max(.zero, Self.renewalAge - age))]
  }

  private mutating func renewalDue(_ now: Instant) -> [Action] {
    guard case .valid(let token) = state, token.wasUsed, now >= mintsNotBefore, age(of: token, now) >= Self.renewalAge
    else { return [] }
    return startMint(previous: age(of: token, now) < Self.maximumAge ? token : nil, isReplacement: false)
  }

  private mutating func approved(_ generation: Int) -> [Action] {
    guard case .valid(var token) = state, token.generation == generation else { return [] }
    token.wasApproved = true
    state = .valid(token)
    return []
  }

  private mutating func refusedAsExpired(_ generation: Int, _ now: Instant) -> [Action] {
    switch state {
    case .valid(let token) where token.generation == generation:
      // A replacement that was approved once has earned a replacement of its own, but no sooner than Apple allows.
      let isSecond =
        token.isReplacement && !plantedRemintLoop
        && (!token.wasApproved || age(of: token, now) < Self.updateInterval)
      if isSecond { return stop(.clockSkewSuspected, until: now.advanced(by: Self.updateInterval)) }
      return startMint(previous: nil, isReplacement: true)
    case .valid(let token):
      return [.use(generation: token.generation)]
    case .minting(let previous, _):
      // Whoever still used the old token learns here that it is not good any more.
      if previous?.generation == generation { state = .minting(previous: nil, isReplacement: true) }
      return [.wait]
    case .stopped(let reason, _):
      return [.refuse(reason)]
    case .empty:
      return tokenNeeded(now)
    }
  }

  private mutating func refusedAsTooMany(_ generation: Int, _ now: Instant) -> [Action] {
    guard case .valid(let token) = state, token.generation == generation else { return [] }
    guard let retired, age(of: retired, now) < Self.maximumAge else { return [] }
    // APNs keeps accepting the token before the change.
    self.retired = nil
    mintsNotBefore = now.advanced(by: Self.updateInterval)
    state = .valid(retired)
    return [.use(generation: retired.generation)]
  }

  private mutating func startMint(previous: Token?, isReplacement: Bool) -> [Action] {
    lastGeneration += 1
    state = .minting(previous: previous, isReplacement: isReplacement)
    return previous == nil ? [.mint(generation: lastGeneration), .wait] : [.mint(generation: lastGeneration)]
  }

  private mutating func stop(_ reason: ReasonCode, until: Instant?) -> [Action] {
    state = .stopped(reason, until: until)
    return [.refuse(reason)]
  }

  private func age(of token: Token, _ now: Instant) -> Duration {
    token.mintedAt.duration(to: now)
  }
}
