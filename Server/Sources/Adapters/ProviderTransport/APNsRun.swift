internal import PabalPrimitives

/// A list of pushes on its way: one task submits, another takes the outcomes.
///
/// Both sides are bounded: `submit` waits while the transport is full, and a push leaves the transport's count only
/// when its outcome has been taken here. Call `finish` after the last `submit`.
package final class APNsRun: OutcomeSink {
  package let wantsChunks = true
  private let transport: APNsTransport
  private let state = Locked(State())

  private struct State {
    var outcomes: [APNsOutcome] = []
    var open = 0
    var isFinished = false
    var waiter: CheckedContinuation<[APNsOutcome]?, Never>?

    /// What `nextOutcomes` may return now; `nil`: nothing yet.
    mutating func take() -> [APNsOutcome]?? {
      if !outcomes.isEmpty {
        defer { outcomes = [] }
        return outcomes
      }
      return isFinished && open == 0 ? .some(nil) : nil
    }

    /// The waiter and what to resume it with, once there is something.
    mutating func answer() -> (CheckedContinuation<[APNsOutcome]?, Never>, [APNsOutcome]?)? {
      guard let continuation = waiter, let outcomes = take() else { return nil }
      waiter = nil
      return (continuation, outcomes)
    }
  }

  init(transport: APNsTransport) {
    self.transport = transport
  }

  /// Hands pushes over; returns when they are in the transport's mailbox.
  package func submit(_ batch: PushBatch) async {
    guard !batch.isEmpty else { return }
    await transport.waitForRoom(batch.count)
    state.withLock { $0.open += batch.count }
    _ = transport.post(batch, to: self)
  }

  /// No more pushes.
  package func finish() {
    resume(
      state.withLock {
        $0.isFinished = true
        return $0.answer()
      })
  }

  /// The outcomes since the last call; `nil` after the last one. One caller at a time.
  package func nextOutcomes() async -> [APNsOutcome]? {
    let outcomes = await withCheckedContinuation { (continuation: CheckedContinuation<[APNsOutcome]?, Never>) in
      resume(
        state.withLock { state in
          precondition(state.waiter == nil, "outcomes of a run are taken by one task")
          state.waiter = continuation
          return state.answer()
        })
    }
    if let outcomes { transport.settle(outcomes) }
    return outcomes
  }

  package func deliver(_ outcomes: [APNsOutcome]) {
    resume(
      state.withLock { state in
        state.open -= outcomes.count
        if state.outcomes.isEmpty { state.outcomes = outcomes } else { state.outcomes += outcomes }
        return state.answer()
      })
  }

  private func resume(_ answer: (CheckedContinuation<[APNsOutcome]?, Never>, [APNsOutcome]?)?) {
    guard let (continuation, outcomes) = answer else { return }
    continuation.resume(returning: outcomes)
  }
}
