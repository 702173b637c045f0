package import EventLoop

extension Loop {
  /// Runs `body` on the loop's thread and waits until it calls `done`. Further calls of `done` have no effect.
  package func run<Result: Sendable>(
    _ body: @escaping @Sendable (_ done: @escaping (Result) -> Void) -> Void
  ) async -> Result {
    await withCheckedContinuation { continuation in
      execute {
        var waiting: CheckedContinuation<Result, Never>? = continuation
        body { result in
          waiting?.resume(returning: result)
          waiting = nil
        }
      }
    }
  }
}
