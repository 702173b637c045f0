internal import PabalPrimitives

/// Takes outcomes on the loop's thread; must not block.
package protocol OutcomeSink: AnyObject, Sendable {
  /// Whether outcomes should come as they happen. If not, those of one batch come together.
  var wantsChunks: Bool { get }

  func deliver(_ outcomes: [APNsOutcome])
}

/// Collects one batch and wakes the one who waits for it, once.
final class BatchSink: OutcomeSink {
  private enum State {
    case pending
    case waiting(CheckedContinuation<[APNsOutcome], Never>)
    case delivered([APNsOutcome])
    case done
  }

  let wantsChunks = false
  private let state = Locked(State.pending)

  func deliver(_ outcomes: [APNsOutcome]) {
    let waiter = state.withLock { state -> CheckedContinuation<[APNsOutcome], Never>? in
      switch state {
      case .pending:
        state = .delivered(outcomes)
        return nil
      case .waiting(let continuation):
        state = .done
        return continuation
      case .delivered, .done:
        preconditionFailure("a batch is delivered once")
      }
    }
    waiter?.resume(returning: outcomes)
  }

  func outcomes() async -> [APNsOutcome] {
    await withCheckedContinuation { continuation in
      let early = state.withLock { state -> [APNsOutcome]? in
        switch state {
        case .pending:
          state = .waiting(continuation)
          return nil
        case .delivered(let outcomes):
          state = .done
          return outcomes
        case .waiting, .done:
          preconditionFailure("a batch is awaited once")
        }
      }
      if let early { continuation.resume(returning: early) }
    }
  }
}
