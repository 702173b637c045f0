#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
import PabalPrimitives

/// A thread of its own for calls that block: never a thread of Swift's cooperative pool.
enum DatabaseThread {
  private final class Start {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` once on a new, detached thread.
  static func start(_ body: @escaping @Sendable () -> Void) throws(SQLiteError) {
    let context = Unmanaged.passRetained(Start(body)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    let status = pthread_create(
      &thread, nil,
      { context in
        DatabaseThread.run(context); return nil
      }, context)
    if status == 0, let thread { pthread_detach(thread) }
    #else
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        DatabaseThread.run(context); return nil
      }, context)
    if status == 0 { pthread_detach(thread) }
    #endif
    guard status == 0 else {
      Unmanaged<Start>.fromOpaque(context).release()
      throw SQLiteError(.other, "The system refused another thread (error \(status)). Raise its limit of threads.")
    }
  }

  private static func run(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
  }
}

/// Opens once; whoever waits goes on.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
