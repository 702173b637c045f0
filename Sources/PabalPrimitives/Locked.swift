#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A value that one thread at a time may touch.
///
/// Built on a pthread mutex, because ThreadSanitizer reports false races for `Synchronization.Mutex` on Linux
/// and because the SDK's floor, iOS 17, does not have it.
public final class Locked<Value>: @unchecked Sendable {
  // Proof for `@unchecked Sendable`: `value` is private and reached only between lock and unlock of `mutex`,
  // whose address never changes because it is heap memory owned by this object.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  public init(_ value: sending Value) {
    mutex = .allocate(capacity: 1)
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "pthread_mutex_init fails only when memory is exhausted")
    self.value = value
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` while holding the lock. Must not be called again from inside `body`.
  public func withLock<Result: ~Copyable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
