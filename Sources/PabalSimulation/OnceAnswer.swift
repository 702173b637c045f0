#if !os(iOS)
internal import PabalPrimitives

/// The phone's end of a completion handler that must be called exactly once.
///
/// The first answer counts. A second one, and an answer that never comes because the last reference to the handler
/// went away, are told to `misuse`.
final class OnceAnswer<Answer: Sendable>: Sendable {
  enum Misuse: Sendable, Equatable {
    case answeredTwice
    case neverAnswered
  }

  private enum State {
    case waiting
    case done
  }

  private let state = Locked(State.waiting)
  private let first: @Sendable (Answer?) -> Void
  private let misuse: @Sendable (Misuse) -> Void

  /// - Parameter first: called once, with nil when there is no answer.
  init(_ first: @escaping @Sendable (Answer?) -> Void, misuse: @escaping @Sendable (Misuse) -> Void) {
    self.first = first
    self.misuse = misuse
  }

  deinit {
    guard take() else { return }
    misuse(.neverAnswered)
    first(nil)
  }

  func answer(_ answer: Answer) {
    if take() { first(answer) } else { misuse(.answeredTwice) }
  }

  /// The phone stops waiting: not the handler's fault twice over, so only the late answer will be told.
  func giveUp() {
    if take() { first(nil) }
  }

  private func take() -> Bool {
    state.withLock { state in
      guard case .waiting = state else { return false }
      state = .done
      return true
    }
  }
}
#endif
