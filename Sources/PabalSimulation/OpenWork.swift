#if !os(iOS)
/// What is going on and not yet finished: handlers that have not answered, HTTP calls without a reply.
///
/// The phone counts its own callbacks. An app under test counts its HTTP calls here as well, so that
/// `SimulatedPhone.advance` does not move time under an open call.
public final class OpenWork: Sendable {
  public struct Ticket: Hashable, Sendable {
    let number: UInt64
  }

  private struct State {
    var open: [Ticket: String] = [:]
    var begun: UInt64 = 0
  }

  private let state = Watched(State())

  public init() {}

  public func begin(_ what: String) -> Ticket {
    state.withLock { state in
      state.begun += 1
      let ticket = Ticket(number: state.begun)
      state.open[ticket] = what
      return ticket
    }
  }

  /// Ending a ticket twice is the same as ending it once.
  public func end(_ ticket: Ticket) {
    state.withLock { $0.open[ticket] = nil }
  }

  public func during<Answer>(_ what: String, _ body: () async throws -> Answer) async rethrows -> Answer {
    let ticket = begin(what)
    defer { end(ticket) }
    return try await body()
  }

  /// What is open now, in the order in which it began.
  public var open: [String] {
    state.withLock { state in state.open.sorted { $0.key.number < $1.key.number }.map(\.value) }
  }

  public var isIdle: Bool { state.withLock { $0.open.isEmpty } }

  /// How many pieces of work have begun since the phone was made.
  var begunCount: UInt64 { state.withLock { $0.begun } }

  /// Throws `CancellationError` when the task is cancelled first.
  public func untilIdle() async throws {
    try await state.wait { $0.open.isEmpty }
  }
}
#endif
