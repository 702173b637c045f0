#if !os(iOS)
internal import PabalPrimitives

/// A locked value whose changes a task can wait for.
final class Watched<Value>: Sendable {
  private struct Waiter {
    var isMet: @Sendable (Value) -> Bool
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct Content {
    var value: Value
    var waiters: [UInt64: Waiter] = [:]
    var nextID: UInt64 = 0
  }

  private let content: Locked<Content>

  init(_ value: sending Value) {
    content = Locked(Content(value: value))
  }

  /// Runs `body` while holding the lock, then wakes those whose condition has become true.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    var met: [CheckedContinuation<Void, any Error>] = []
    defer { for continuation in met { continuation.resume() } }
    return try content.withLock { content in
      defer {
        for (id, waiter) in content.waiters where waiter.isMet(content.value) {
          met.append(waiter.continuation)
          content.waiters[id] = nil
        }
      }
      return try body(&content.value)
    }
  }

  /// Returns as soon as `isMet` holds. Throws `CancellationError` when the task is cancelled first.
  func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws {
    let id = content.withLock { content in
      content.nextID += 1
      return content.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let outcome: Result<Void, any Error>? = content.withLock { content in
          if isMet(content.value) { return .success(()) }
          if Task.isCancelled { return .failure(CancellationError()) }
          content.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let waiter = content.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }
}
#endif
