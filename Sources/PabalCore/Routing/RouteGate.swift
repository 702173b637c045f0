package import PabalPrimitives

/// Holds the screen that a tap asks for until the app can show it.
///
/// The app may not be ready (cold start, log-in), the account may have changed meanwhile, the user may have given up.
/// One route a scene is kept and the latest wins; a route leaves exactly once.
package struct RouteGate: Sendable {
  package struct Route: Sendable, Hashable {
    package let link: PabalLink
    /// Which window was tapped; `nil` for apps with one.
    package let scene: String?

    package init(link: PabalLink, scene: String? = nil) {
      self.link = link
      self.scene = scene
    }
  }

  private struct Held: Sendable {
    var route: Route
    var since: Instant
  }

  private enum State: Sendable {
    /// Routes are held. Can transition to: draining.
    case closed
    /// Held routes leave one by one. Can transition to: open, closed.
    case draining
    /// Routes pass. Can transition to: closed.
    case open
  }

  private var state = State.closed
  private var held: [Held] = []
  /// `nil` until it could be read who is signed in; until then nothing leaves.
  private var epoch: Int?

  package init() {}

  /// A tap. The route comes back when it may be shown now.
  package mutating func offer(_ route: Route, now: Instant) -> Route? {
    guard case .open = state, epoch != nil else {
      held.removeAll { $0.route.scene == route.scene }
      held.append(Held(route: route, since: now))
      if held.count > RouteLimits.scenes { held.removeFirst() }
      return nil
    }
    return route
  }

  /// The interface says that it can show routes. Call `next` until it has no more.
  package mutating func becomeReady() {
    if case .closed = state { state = .draining }
  }

  package mutating func becomeUnready() {
    state = .closed
  }

  /// The next held route to show; `nil` when there is none, from when on routes pass.
  package mutating func next(now: Instant) -> Route? {
    guard case .draining = state, epoch != nil else { return nil }
    if let route = take(now: now) { return route }
    state = .open
    return nil
  }

  /// The held route, once, whether or not the interface is ready.
  package mutating func consume(now: Instant) -> PabalLink? {
    guard epoch != nil else { return nil }
    return take(now: now)?.link
  }

  /// The account of this install, at launch and later. When another one takes its place, held routes are dropped: A's
  /// chat never opens for B. Epoch 0 means that nobody had ever signed in, so there is no one a route could belong to.
  package mutating func accountIs(epoch new: Int, changed: Bool) {
    if changed, let epoch, epoch > 0 { held = [] }
    epoch = new
  }

  private mutating func take(now: Instant) -> Route? {
    held.removeAll { $0.since.duration(to: now) > RouteLimits.lifetime }
    return held.isEmpty ? nil : held.removeFirst().route
  }
}

package enum RouteLimits {
  /// One route a scene; iPad apps with more windows than this lose the oldest tap.
  package static let scenes = 8
  /// Who did not get to the screen in this time has gone on to something else.
  package static let lifetime = Duration.seconds(300)
}
