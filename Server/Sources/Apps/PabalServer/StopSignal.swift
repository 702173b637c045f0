#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
import PabalPrimitives

/// Turns SIGTERM and SIGINT into a message.
package enum StopSignal {
  /// Written by the signal handler, read by one thread; made before the handler is set.
  private static let pipeEnds: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    let made = pipe(&ends) == 0
    precondition(made, "a process has two descriptors to spare at its start")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }()

  private static let waiting = Locked<[CheckedContinuation<Void, Never>]>([])
  private static let hasCome = Locked(false)

  /// Returns when the process is asked to stop. Sets the process's handlers at the first call; a second signal while
  /// the first is being obeyed ends the process at once.
  package static func wait() async {
    install()
    await withCheckedContinuation { continuation in
      let isLate = hasCome.withLock { come in
        if !come { waiting.withLock { $0.append(continuation) } }
        return come
      }
      if isLate { continuation.resume() }
    }
  }

  private static let installed: Void = {
    let end = pipeEnds.read
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { _ in
        StopSignal.listen(); return nil
      }, nil)
    precondition(status == 0 && end >= 0, "a process may have one more thread at its start")
    pthread_detach(thread)
    for number in [SIGTERM, SIGINT] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in
        var byte: UInt8 = 1
        _ = write(StopSignal.pipeEnds.write, &byte, 1)
      }
      // The second signal finds the default handler.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
      sigaction(number, &action, nil)
    }
  }()

  private static func install() { installed }

  private static func listen() {
    var byte: UInt8 = 0
    while read(pipeEnds.read, &byte, 1) < 0, errno == EINTR {}
    let continuations = hasCome.withLock { come -> [CheckedContinuation<Void, Never>] in
      come = true
      return waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
    for continuation in continuations { continuation.resume() }
  }
}
