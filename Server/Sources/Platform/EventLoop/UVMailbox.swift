internal import CUV
internal import PabalPrimitives

/// Work on its way from other threads to a loop.
final class UVMailbox: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    /// nil before the loop runs and after it has stopped.
    var wake: UnsafeMutablePointer<uv_async_t>?
    var isClosed = false
  }

  private let state = Locked(State())

  func put(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.work.append(work)
      if state.work.count == 1, let wake = state.wake { uv_async_send(wake) }
    }
  }

  /// Takes everything; the next `put` wakes the loop again.
  ///
  /// - Parameter work: empty before; its memory serves what is put next.
  func takeAll(into work: inout [@Sendable () -> Void]) {
    state.withLock { swap(&$0.work, &work) }
  }

  func open(waking wake: UnsafeMutablePointer<uv_async_t>) {
    state.withLock { $0.wake = wake }
  }

  func close() {
    // Released outside the lock: what the work holds may hand over work in its `deinit`.
    _ = state.withLock { state -> [@Sendable () -> Void] in
      state.isClosed = true
      state.wake = nil
      defer { state.work = [] }
      return state.work
    }
  }
}
