import PabalPrimitives

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Calls an action once a second on a thread of its own until it is stopped.
///
/// A thread and not a task: deadlines must be kept also when every task of the process is busy.
final class Ticker: Sendable {
  private final class Work: Sendable {
    let end: CInt
    let action: @Sendable () -> Void

    init(end: CInt, action: @escaping @Sendable () -> Void) {
      self.end = end
      self.action = action
    }

    /// Waits for a byte in the pipe, at most a second at a time.
    func run() {
      while true {
        var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        let ready = poll(&wait, 1, 1000)
        if ready > 0 { break }
        if ready == 0 { action() }
      }
      SocketAddress.close(end)
    }
  }

  private let writeEnd: CInt
  private let thread: pthread_t

  /// - Throws: `not_started` when the system gives no pipe or thread.
  init(_ action: @escaping @Sendable () -> Void) throws(WebServerError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw WebServerError(.notStarted, "No pipe for the timer (errno \(errno)).") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let work = Unmanaged.passRetained(Work(end: ends[0], action: action))
    #if canImport(Darwin)
    var created: pthread_t?
    #else
    var created = pthread_t()
    #endif
    let status = pthread_create(
      &created, nil,
      { argument in
        #if canImport(Darwin)
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
        #else
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
        #endif
        return nil
      }, work.toOpaque())
    #if canImport(Darwin)
    let thread = created
    #else
    let thread: pthread_t? = created
    #endif
    guard status == 0, let thread else {
      work.release()
      SocketAddress.close(ends[0])
      SocketAddress.close(ends[1])
      throw WebServerError(.notStarted, "No thread for the timer (error \(status)).")
    }
    writeEnd = ends[1]
    self.thread = thread
  }

  /// Ends the thread and waits for it. Once only.
  func stop() {
    // Not by closing alone: a child process that was started in the meantime may hold the other end open.
    var signal: UInt8 = 1
    _ = write(writeEnd, &signal, 1)
    SocketAddress.close(writeEnd)
    pthread_join(thread, nil)
  }
}
