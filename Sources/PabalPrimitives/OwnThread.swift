#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Threads for calls that block, so that no thread of Swift's pool is kept waiting.
public enum OwnThread {
  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `work` on a new thread, which ends with it.
  public static func start(_ work: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Work(work)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    let status = pthread_create(&thread, nil, { Self.enter($0) }, box)
    if let thread { pthread_detach(thread) }
    #else
    var thread = pthread_t()
    let status = pthread_create(&thread, nil, { $0.flatMap { Self.enter($0) } }, box)
    if status == 0 { pthread_detach(thread) }
    #endif
    precondition(status == 0, "the system has no thread left")
  }

  /// Runs `work` on a thread of its own and comes back with what it gives.
  public static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      start { continuation.resume(returning: work()) }
    }
  }

  private static func enter(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Work>.fromOpaque(box).takeRetainedValue().run()
    return nil
  }
}
