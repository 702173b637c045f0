import EventLoop
import PabalPrimitives

/// Waits on a loop that may be stopped meanwhile: then every wait ends at once.
final class StandInTimer: Sendable {
  private struct State {
    var isStopped = false
    var next = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let loop: any Loop
  private let state = Locked(State())

  init(loop: any Loop) {
    self.loop = loop
  }

  func wait(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
      let id: Int? = state.withLock { state in
        guard !state.isStopped else { return nil }
        state.next += 1
        state.waiting[state.next] = continuation
        return state.next
      }
      guard let id else {
        continuation.resume()
        return
      }
      loop.execute { [self] in
        loop.schedule(after: .milliseconds(milliseconds)) { [self] in
          state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
      }
    }
  }

  /// Ends every wait, and all that come later.
  func stop() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.isStopped = true
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }
}
