import PabalPrimitives

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// SIGINT and SIGTERM as calls on an ordinary thread, instead of a handler that may do almost nothing.
///
/// Make it on the first thread, before any other exists: the signals are blocked there, all later threads inherit that,
/// and the first thread takes them with sigwait(3). Until somebody has said what to do, a signal ends the process.
package final class SignalWatch: Sendable {
  package typealias Handler = @Sendable (_ count: Int) -> Void
  private let state = Locked<(handler: Handler?, count: Int)>((nil, 0))

  package init() {
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Keeps the calling thread for waiting.
  func takeForEver() -> Never {
    var signals = Self.signals
    while true {
      var number: Int32 = 0
      guard sigwait(&signals, &number) == 0 else { continue }
      arrived(number)
    }
  }

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
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
