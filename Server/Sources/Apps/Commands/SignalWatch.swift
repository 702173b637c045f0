import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// SIGINT and SIGTERM as calls on an ordinary thread, instead of a handler that may do almost nothing.
///
/// Make it before any other thread exists: the signals are blocked in the making thread, all later threads inherit
/// that, and one thread takes them with sigwait(3). Until somebody has said what to do, a signal ends the process.
package final class SignalWatch: Sendable {
  package typealias Handler = @Sendable (_ count: Int) -> Void
  private let state = Locked<(handler: Handler?, count: Int)>((nil, 0))

  package init() {
    var wanted = sigset_t()
    sigemptyset(&wanted)
    sigaddset(&wanted, SIGINT)
    sigaddset(&wanted, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &wanted, nil)
    let set = wanted
    OwnThread.start { [self] in
      var signals = set
      while true {
        var number: Int32 = 0
        guard sigwait(&signals, &number) == 0 else { continue }
        arrived(number)
      }
    }
  }

  /// - Parameter handler: told of each signal with its count from 1; replaces the one before.
  package func onSignal(_ handler: @escaping Handler) {
    state.withLock { $0.handler = handler }
  }

  private func arrived(_ number: Int32) {
    let (handler, count) = state.withLock { state in
      state.count += 1
      return (state.handler, state.count)
    }
    guard let handler else {
      // What the shell reports for a process that a signal ended.
      _exit(128 + number)
    }
    handler(count)
  }
}
