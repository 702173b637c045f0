import PabalPrimitives

/// Lets callers wait until a number of things has happened, or until they are released.
final class Countdown: Sendable {
  private struct State {
    var remaining: Int
    var nextWaiter = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state: Locked<State>

  init(_ count: Int) {
    state = Locked(State(remaining: count))
  }

  var isOver: Bool { state.withLock { $0.remaining <= 0 } }

  func tick(_ count: Int = 1) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.remaining -= count
      guard state.remaining <= 0 else { return [] }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when the count is over, or when `release` is called, which `arm` is given.
  func wait(arm: (_ release: @escaping @Sendable () -> Void) -> Void) async {
    await withCheckedContinuation { continuation in
      let waiter = state.withLock { state -> Int? in
        guard state.remaining > 0 else { return nil }
        state.nextWaiter += 1
        state.waiting[state.nextWaiter] = continuation
        return state.nextWaiter
      }
      guard let waiter else { return continuation.resume() }
      arm { self.state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume() }
    }
  }
}
