/// Something for the engine to deal with.
package enum EngineInput: Sendable {
  case registration(RegistrationMachine.Event)
  case record([ClientEvent])
  /// The user did something: it is written down before anybody hears of it.
  case interaction(PabalInteraction)
  /// The app's handler for it has returned.
  case interactionHandled(id: String)
  /// Take what extensions left.
  case drainMailbox
  /// As `drainMailbox`, and try now whatever waits.
  case nudge
  case registrationTimer
  case uploadTimer
  case registrationFinished(CallOutcome)
  case uploadFinished(CallOutcome)
  /// As `nudge`; done when nothing is in flight any more.
  case flush
}

/// What the engine tells the main actor.
package enum EngineOutput: Sendable {
  case registration(PabalRegistration)
  case account(epoch: Int, changed: Bool)
  /// An earlier process died before its handler returned.
  case unhandled([PabalInteraction])
}

/// An input under way. Its end, however it comes (handled, dropped, client gone), is told exactly once: when the last
/// reference goes.
final class EngineItem: Sendable {
  let input: EngineInput
  private let onEnd: [@Sendable () -> Void]

  init(_ input: EngineInput, onEnd: [@Sendable () -> Void]) {
    self.input = input
    self.onEnd = onEnd
  }

  deinit {
    for end in onEnd { end() }
  }
}

/// The engine's queue of inputs, in order of arrival; callable from any thread.
package final class EngineInbox: Sendable {
  /// Inputs come from a person and the system, a few a second; this many waiting means that the engine is stuck, and
  /// then the newest are refused.
  static let capacity = 1_024

  private let activity: PabalActivity
  private let continuation: AsyncStream<EngineItem>.Continuation
  let items: AsyncStream<EngineItem>

  package init(activity: PabalActivity) {
    self.activity = activity
    (items, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
  }

  package func put(_ input: EngineInput) {
    continuation.yield(EngineItem(input, onEnd: [activity.begin()]))
  }

  /// Returns when the input was dealt with: what had to be saved is saved.
  package func handle(_ input: EngineInput) async {
    await withCheckedContinuation { done in
      _ = continuation.yield(EngineItem(input, onEnd: [activity.begin(), { done.resume() }]))
    }
  }

  package func close() {
    continuation.finish()
  }
}
