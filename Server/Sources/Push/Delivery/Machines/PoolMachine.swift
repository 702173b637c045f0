package import PabalPrimitives

/// When connections are dialled, trusted, replaced and given up.
///
/// One dial at a time, with a deadline of its own; pushes wait in a line and belong to no dial, so a dial that hangs
/// holds nobody. A connection is filled to its permits before the next one is opened.
package struct PoolMachine: Sendable {
  package struct Rules: Sendable, Equatable {
    /// Connections open at once, those that are running out not counted.
    package var connections: Int
    /// TCP, TLS and the peer's first SETTINGS together.
    package var dialTimeout: Duration
    package var backOffFirst: Duration
    package var backOffMaximum: Duration
    /// Consecutive 500 answers after which a connection is replaced.
    package var serverErrorsMaximum: Int
    /// Consecutive failed dials after which waiting pushes are given up; `nil`: never, their own deadlines decide.
    package var dialsMaximum: Int?

    package init(
      connections: Int = 1, dialTimeout: Duration = .seconds(10), backOffFirst: Duration = .milliseconds(250),
      backOffMaximum: Duration = .seconds(30), serverErrorsMaximum: Int = 5, dialsMaximum: Int? = nil
    ) {
      self.connections = connections
      self.dialTimeout = dialTimeout
      self.backOffFirst = backOffFirst
      self.backOffMaximum = backOffMaximum
      self.serverErrorsMaximum = serverErrorsMaximum
      self.dialsMaximum = dialsMaximum
    }
  }

  package enum Event: Equatable, Sendable {
    /// The line as it is now: pushes waiting, permits free on connections that may be used.
    case demand(waiting: Int, free: Int)
    /// TLS and the peer's SETTINGS are through.
    case ready(ConnectionKey)
    /// A request was answered with anything but 500.
    case answered(ConnectionKey)
    /// A request was answered with 500.
    case serverError(ConnectionKey)
    /// GOAWAY: runs out, takes nothing new. From a connection that never answered this counts as a failed dial.
    case leaving(ConnectionKey)
    /// The same by our own wish: idle, stream ids used up, or the provider asked for another connection.
    case retired(ConnectionKey)
    /// The connection, or the dial, ended.
    case closed(ConnectionKey)
    case wake
    /// Every connection belongs to a credential that is not used any more.
    case replaceAll
    case shutdown
  }

  package enum Action: Equatable, Sendable {
    case dial(ConnectionKey)
    /// The dial took too long: abort it.
    case abandon(ConnectionKey)
    /// Nothing new on this connection; close it when its pushes are answered.
    case retire(ConnectionKey)
    /// So many dials have failed in a row that waiting pushes should end.
    case unreachable(dials: Int)
  }

  private enum Phase: Equatable {
    /// Can transition to: ready, gone.
    case dialing(deadline: Instant)
    /// `isProven` after the first answer. Can transition to: leaving, gone.
    case ready(isProven: Bool, serverErrors: Int)
    /// Can transition to: gone.
    case leaving
  }

  private let rules: Rules
  private var generator: SeededGenerator
  private var phases: [ConnectionKey: Phase] = [:]
  private var nextKey: Int32 = 1
  private var failures = 0
  private var notBefore = Instant.zero
  private var isWanted = false
  private var isShutDown = false

  package init(rules: Rules, seed: UInt64) {
    precondition(rules.connections > 0, "a pool without connections sends nothing")
    self.rules = rules
    generator = SeededGenerator(seed: seed)
  }

  /// Dials ever made.
  package var dials: Int { Int(nextKey) - 1 }

  /// Kept, not asked for: it changes with events only, and is looked at in every turn.
  package private(set) var nextWake: Instant?

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    let actions = actions(for: event, now: now)
    nextWake = isWanted && canDial ? notBefore : nil
    for case .dialing(let deadline) in phases.values {
      nextWake = min(nextWake ?? deadline, deadline)
    }
    return actions
  }

  private mutating func actions(for event: Event, now: Instant) -> [Action] {
    switch event {
    case .demand(let waiting, let free):
      isWanted = waiting > 0 && free == 0
      return dialIfWanted(now: now)
    case .ready(let key):
      guard case .dialing = phases[key] else { return [] }
      phases[key] = .ready(isProven: false, serverErrors: 0)
      // The demand was for this one; what is left of it is told anew.
      isWanted = false
      return []
    case .answered(let key):
      guard case .ready = phases[key] else { return [] }
      phases[key] = .ready(isProven: true, serverErrors: 0)
      failures = 0
      return []
    case .serverError(let key):
      return countServerError(key, now: now)
    case .leaving(let key):
      return leave(key, byPeer: true, now: now)
    case .retired(let key):
      return leave(key, byPeer: false, now: now)
    case .closed(let key):
      return close(key, now: now)
    case .wake:
      return abandonLateDials(now: now) + dialIfWanted(now: now)
    case .replaceAll:
      return replaceAll()
    case .shutdown:
      isShutDown = true
      isWanted = false
      return phases.keys.sorted().map { .retire($0) }
    }
  }

  private var canDial: Bool {
    guard !isShutDown else { return false }
    var counted = 0
    for phase in phases.values {
      switch phase {
      case .dialing: return false
      case .ready: counted += 1
      case .leaving: break
      }
    }
    return counted < rules.connections
  }

  private mutating func dialIfWanted(now: Instant) -> [Action] {
    guard isWanted, canDial, now >= notBefore else { return [] }
    let key = ConnectionKey(rawValue: nextKey)
    nextKey += 1
    phases[key] = .dialing(deadline: now.advanced(by: rules.dialTimeout))
    return [.dial(key)]
  }

  private mutating func countServerError(_ key: ConnectionKey, now: Instant) -> [Action] {
    guard case .ready(_, let serverErrors) = phases[key] else { return [] }
    failures = 0
    guard serverErrors + 1 >= rules.serverErrorsMaximum else {
      phases[key] = .ready(isProven: true, serverErrors: serverErrors + 1)
      return []
    }
    phases[key] = .leaving
    return [.retire(key)]
  }

  private mutating func leave(_ key: ConnectionKey, byPeer: Bool, now: Instant) -> [Action] {
    guard case .ready(let isProven, _) = phases[key] else { return [] }
    phases[key] = .leaving
    return isProven || !byPeer ? [] : fail(now: now)
  }

  /// What went wrong with the old credential is no reason to wait with the new one.
  private mutating func replaceAll() -> [Action] {
    failures = 0
    notBefore = .zero
    var actions: [Action] = []
    for (key, phase) in phases.sorted(by: { $0.key < $1.key }) {
      switch phase {
      case .dialing:
        phases[key] = nil
        actions.append(.abandon(key))
      case .ready:
        phases[key] = .leaving
        actions.append(.retire(key))
      case .leaving: break
      }
    }
    return actions
  }

  private mutating func close(_ key: ConnectionKey, now: Instant) -> [Action] {
    guard let phase = phases.removeValue(forKey: key) else { return [] }
    switch phase {
    case .dialing, .ready(isProven: false, _): return fail(now: now)
    case .ready(isProven: true, _), .leaving: return []
    }
  }

  private mutating func abandonLateDials(now: Instant) -> [Action] {
    var actions: [Action] = []
    for (key, phase) in phases.sorted(by: { $0.key < $1.key }) {
      guard case .dialing(let deadline) = phase, now >= deadline else { continue }
      phases[key] = nil
      actions.append(.abandon(key))
      actions += fail(now: now)
    }
    return actions
  }

  /// A connection that came to nothing: the next dial waits longer, anything up to a ceiling that doubles (full
  /// jitter), so that clients that lost their connections together do not come back together.
  private mutating func fail(now: Instant) -> [Action] {
    failures += 1
    let doubled = rules.backOffFirst * (1 << min(failures - 1, 20))
    let ceiling = min(doubled, rules.backOffMaximum)
    let wait = ceiling * Double.random(in: 0...1, using: &generator)
    notBefore = now.advanced(by: wait)
    guard let maximum = rules.dialsMaximum, failures >= maximum else { return [] }
    return [.unreachable(dials: failures)]
  }
}
