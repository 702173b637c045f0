import PabalSimulation

/// Runs `body`, or throws `Unmet` when `limit` (real time) is over first.
func within<Answer: Sendable>(
  _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
  try await withThrowingTaskGroup(of: Answer.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await RealTime.pass(limit)
      throw Unmet("\(what): not within \(limit)")
    }
    defer { group.cancelAll() }
    guard let answer = try await group.next() else { throw Unmet("\(what): no answer") }
    return answer
  }
}

/// Returns when the task is cancelled.
public func untilCancelled() async {
  while !Task.isCancelled {
    do { try await RealTime.pass(.seconds(3600)) } catch { return }
  }
}
