internal import PabalPrimitives

/// A completion handler of the system's, called exactly once and on the main actor.
///
/// Apple calls delegates on any thread and asks for the answer on the main one; a second answer ends the process.
final class AnswerOnce<Answer: Sendable>: Sendable {
  // The system hands its block over for one call from the main thread: that call is in `give`, behind `isGiven`.
  private nonisolated(unsafe) let handler: (Answer) -> Void
  private let isGiven = Locked(false)

  init(_ completionHandler: @escaping (Answer) -> Void) {
    handler = completionHandler
  }

  /// Does nothing the second time.
  @MainActor func give(_ answer: Answer) {
    let isFirst = isGiven.withLock { given in
      defer { given = true }
      return !given
    }
    if isFirst { handler(answer) }
  }
}
