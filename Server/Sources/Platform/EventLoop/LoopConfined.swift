#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Identifies a loop's thread.
package final class LoopMark: Sendable {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key is left")
    return key
  }()

  private let bindsThread: Bool

  /// `bindsThread: false` is for loops that a test drives from its own thread: every thread then counts as the loop's.
  package init(bindsThread: Bool = true) {
    self.bindsThread = bindsThread
  }

  /// Declares the calling thread to be this loop's, until it ends or claims another mark.
  package func claimThread() {
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
  }

  package var isCurrent: Bool {
    !bindsThread || pthread_getspecific(Self.key) == Unmanaged.passUnretained(self).toOpaque()
  }
}

/// A value that may be seen on one loop's thread only, but carried over others.
///
/// Proof of `@unchecked Sendable`: `value` is private and every access checks that the calling thread is the one that
/// `mark` names; the last release may happen elsewhere, but then nobody else holds the box.
package final class LoopConfined<Value>: @unchecked Sendable {
  private let mark: LoopMark
  private var stored: Value

  /// From any thread: the value is given away.
  package init(_ value: sending Value, to mark: LoopMark) {
    self.stored = value
    self.mark = mark
  }

  /// Stops the process when called on another thread.
  package var value: Value {
    get {
      precondition(mark.isCurrent, "a value of a loop was touched from another thread")
      return stored
    }
    set {
      precondition(mark.isCurrent, "a value of a loop was touched from another thread")
      stored = newValue
    }
  }
}
