package import PabalPrimitives

/// Decides when the journal's next batch is sent.
package struct UploadMachine: Sendable {
  package enum Event: Sendable {
    case appended
    /// There was nothing to send after all.
    case nothingToSend
    case finished(CallOutcome)
    case retryDue
    case nudge
  }

  package enum Action: Sendable, Equatable {
    case sendNext
    case acknowledge
    case quarantine
    case schedule(Duration)
    case cancelTimer
  }

  private enum State: Sendable {
    /// Can transition to: sending.
    case idle
    /// Can transition to: idle, waiting.
    case sending
    /// Can transition to: sending.
    case waiting
  }

  private let randomness: Randomness
  private var state = State.idle
  private var backOff = BackOff()

  package init(randomness: Randomness) {
    self.randomness = randomness
  }

  package var isAtRest: Bool {
    if case .sending = state { return false }
    return true
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .appended:
      guard case .idle = state else { return [] }
      state = .sending
      return [.sendNext]
    case .nothingToSend:
      state = .idle
      return []
    case .retryDue:
      guard case .waiting = state else { return [] }
      state = .sending
      return [.sendNext]
    case .nudge:
      switch state {
      case .sending: return []
      case .idle:
        state = .sending
        return [.sendNext]
      case .waiting:
        state = .sending
        return [.cancelTimer, .sendNext]
      }
    case .finished(let outcome):
      return finished(outcome)
    }
  }

  private mutating func finished(_ outcome: CallOutcome) -> [Action] {
    switch outcome {
    case .accepted(let answer):
      guard EventsAnswer(body: answer.body) != nil else {
        // The events are ours until our server has them.
        return wait(nil)
      }
      backOff.reset()
      return [.acknowledge, .sendNext]
    case .later(_, let retryAfter):
      return wait(retryAfter)
    case .refused(let status, _) where status == 401 || status == 403 || status == 404:
      // The key or the address is wrong, not the events.
      return wait(BackOff.delays.last)
    case .refused:
      backOff.reset()
      return [.quarantine, .sendNext]
    }
  }

  private mutating func wait(_ retryAfter: Duration?) -> [Action] {
    state = .waiting
    return [.schedule(backOff.next(retryAfter: retryAfter, randomness: randomness))]
  }
}

/// What the SDK reads of the answer to `POST /v1/events`: that it is our server's.
struct EventsAnswer {
  /// `nil` when something between us and the server answered, such as a network's log-in page.
  init?(body: [UInt8]) {
    do throws(JSONError) {
      guard try JSONSlice(parsing: body)["accepted"]?.int != nil else { return nil }
    } catch {
      return nil
    }
  }
}
