internal import PabalPrimitives

/// Wakes those who wait for one push each, of one gathered batch.
///
/// Its continuations are unchecked, because a checked one costs an allocation for each push; that each is resumed once
/// rests on `Place`, which holds it until its one outcome takes it out.
final class SinglesSink: OutcomeSink {
  private enum Place {
    case pending
    case waiting(UnsafeContinuation<APNsOutcome, Never>)
    case delivered(APNsOutcome)
    case done
  }

  let wantsChunks = true
  private let transport: APNsTransport
  private let places = Locked<[Place]>([])

  init(transport: APNsTransport) {
    self.transport = transport
  }

  func deliver(_ outcomes: [APNsOutcome]) {
    transport.settle(outcomes)
    let waiters = places.withLock { places in
      outcomes.map { outcome -> UnsafeContinuation<APNsOutcome, Never>? in
        Self.reach(outcome.index, in: &places)
        switch places[outcome.index] {
        case .pending:
          places[outcome.index] = .delivered(outcome)
          return nil
        case .waiting(let continuation):
          places[outcome.index] = .done
          return continuation
        case .delivered, .done:
          preconditionFailure("a push has one outcome")
        }
      }
    }
    for (waiter, outcome) in zip(waiters, outcomes) { waiter?.resume(returning: outcome) }
  }

  /// - Parameter index: of the push in its batch.
  func outcome(at index: Int) async -> APNsOutcome {
    await withUnsafeContinuation { continuation in
      let early = places.withLock { places -> APNsOutcome? in
        Self.reach(index, in: &places)
        switch places[index] {
        case .pending:
          places[index] = .waiting(continuation)
          return nil
        case .delivered(let outcome):
          places[index] = .done
          return outcome
        case .waiting, .done:
          preconditionFailure("an outcome is awaited once")
        }
      }
      if let early { continuation.resume(returning: early) }
    }
  }

  private static func reach(_ index: Int, in places: inout [Place]) {
    while places.count <= index { places.append(.pending) }
  }
}
