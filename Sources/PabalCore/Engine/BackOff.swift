package import PabalPrimitives

/// How long to wait after a call without an answer.
package struct BackOff: Sendable {
  package static let delays: [Duration] = [.seconds(1), .seconds(5), .seconds(25), .seconds(125), .seconds(300)]
  /// Longest wait that a server may ask for by `Retry-After`.
  package static let longest = Duration.seconds(3600)

  private var failures = 0

  package init() {}

  package mutating func reset() {
    failures = 0
  }

  /// The next wait: the table's, or the server's when that is longer, plus up to a fifth so that a thousand phones do
  /// not come back at once.
  package mutating func next(retryAfter: Duration?, randomness: Randomness) -> Duration {
    let index = min(failures, Self.delays.count - 1)
    failures += 1
    let base = max(Self.delays[index], min(retryAfter ?? .zero, Self.longest))
    return base + .milliseconds(base.milliseconds / 5 * Int64(randomness.uint64() % 1000) / 1000)
  }
}

/// What an answer means for a call that may be repeated.
package enum CallOutcome: Sendable, Equatable {
  case accepted(HTTPAnswer)
  /// No answer, or one that says "later".
  case later(PabalError, retryAfter: Duration?)
  /// Repeating the same call cannot help.
  case refused(status: Int, PabalError)

  package init(_ answer: HTTPAnswer) {
    switch answer.status {
    case 200..<300:
      self = .accepted(answer)
    case 408, 425, 429, 500...:
      let seconds = answer.headers["retry-after"].flatMap { Int64($0) }
      self = .later(PabalError(answer: answer), retryAfter: seconds.map { .seconds($0) })
    default:
      self = .refused(status: answer.status, PabalError(answer: answer))
    }
  }

  package init(failure: any Error) {
    let known = failure as? HTTPFailure
    self = .later(
      PabalError(
        code: known?.code ?? "http_unreachable",
        message: known?.message ?? "The server could not be reached. The call is repeated later by itself.",
        cause: failure),
      retryAfter: nil)
  }

  package static func == (left: CallOutcome, right: CallOutcome) -> Bool {
    switch (left, right) {
    case (.accepted(let a), .accepted(let b)): a.status == b.status && a.body == b.body
    case (.later(let a, let one), .later(let b, let two)): a == b && one == two
    case (.refused(let a, let one), .refused(let b, let two)): a == b && one == two
    default: false
    }
  }
}
