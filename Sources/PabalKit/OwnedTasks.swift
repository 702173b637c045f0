/// The tasks that a client has started: they are canceled when it goes.
@MainActor final class OwnedTasks {
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var last = 0

  deinit {
    for task in tasks.values { task.cancel() }
  }

  func run(_ operation: @escaping @MainActor @Sendable () async -> Void) {
    last += 1
    let number = last
    tasks[number] = Task { [weak self] in
      await operation()
      self?.tasks[number] = nil
    }
  }
}
