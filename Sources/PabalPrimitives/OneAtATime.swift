/// Lets one thread at a time through, where there is an order to keep and no value to guard.
///
/// Not a `Locked<Void>`: Swift gives a value without size the address of the object that holds it, and
/// ThreadSanitizer takes a look at the object for a race with what another thread does inside.
public final class OneAtATime: Sendable {
  private let isTaken = Locked(false)

  public init() {}

  /// Runs `body` alone. Must not be called again from inside `body`.
  public func run<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    try isTaken.withLock { isTaken in
      isTaken = true
      defer { isTaken = false }
      return try body()
    }
  }
}
