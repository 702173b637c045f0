#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Jobs that callers hand to threads which may block.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
  // Proof for `@unchecked Sendable`: `jobs` and `isClosed` are private and reached only between lock and unlock of
  // `mutex`; mutex and condition live in heap memory that this object owns and never moves.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [Job] = []
  private var head = 0
  private var isClosed = false
  private let limit: Int

  enum Refusal {
    case full
    case closed
  }

  init(limit: Int) {
    self.limit = limit
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    let made = pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
    precondition(made, "pthread initialisers fail only when memory is exhausted")
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// `nil`: taken.
  func push(_ job: Job) -> Refusal? {
    locked {
      if isClosed { return .closed }
      if jobs.count - head >= limit { return .full }
      jobs.append(job)
      pthread_cond_signal(condition)
      return nil
    }
  }

  /// Blocks until there is a job. `nil`: closed, and all jobs are taken.
  func take() -> Job? {
    locked {
      while jobs.count == head, !isClosed { pthread_cond_wait(condition, mutex) }
      return pop()
    }
  }

  /// Never blocks.
  func takeIfAny() -> Job? {
    locked { pop() }
  }

  /// No more jobs come in; those that wait are still done.
  func close() {
    locked {
      isClosed = true
      pthread_cond_broadcast(condition)
    }
  }

  private func pop() -> Job? {
    guard head < jobs.count else { return nil }
    let job = jobs[head]
    head += 1
    if head == jobs.count || head >= 1_024 {
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }
}
