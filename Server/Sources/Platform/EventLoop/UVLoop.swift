internal import CUV
package import PabalPrimitives

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A libuv loop on a thread of its own.
///
/// Whoever starts it stops it: a running loop keeps itself alive.
package final class UVLoop: Loop {
  package let mark: LoopMark
  private let clock: Clock
  private let mailbox: UVMailbox
  private let core: LoopConfined<UVLoopCore>
  private let thread = Locked<UnsafeMutablePointer<uv_thread_t>?>(nil)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - clock: what `now` tells. Timers always run in real time.
  ///   - hosts: addresses of names that the system's resolver is not asked for, as `/etc/hosts` has them.
  package init(clock: Clock = .system, hosts: [String: [String]] = [:]) throws(ChannelError) {
    let mark = LoopMark()
    let mailbox = UVMailbox()
    self.mark = mark
    self.mailbox = mailbox
    self.clock = clock
    self.core = LoopConfined(try UVLoopCore(mailbox: mailbox, hosts: hosts), to: mark)
    try startThread()
  }

  package var now: Instant { clock.monotonic() }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    mailbox.put(work)
  }

  @discardableResult
  package func schedule(after delay: Duration, _ work: @escaping () -> Void) -> TimerID {
    core.value.schedule(after: delay, work)
  }

  package func cancel(_ timer: TimerID) {
    core.value.cancel(timer)
  }

  package func connect(to endpoint: Endpoint, handler: any ByteChannelHandler) -> any ByteChannel {
    let channel = UVChannel(core: core.value, handler: handler)
    channel.dial(endpoint)
    return channel
  }

  package func listen(
    on endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?
  ) throws(ChannelError) -> any ByteListener {
    try UVListener(core: core.value, endpoint: endpoint, accept: accept)
  }

  /// Runs what was handed over before, ends every channel with `loop_stopped` and every timer without a call, and
  /// returns when the thread has ended. From any thread but the loop's. A second call does nothing.
  package func stop() {
    precondition(!mark.isCurrent, "a loop cannot wait for its own end")
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread.map { LoopThread(pointer: $0) }
    }
    guard let running else { return }
    mailbox.put { [core] in core.value.stop() }
    running.join()
  }

  private func startThread() throws(ChannelError) {
    let start = LoopThreadStart { [self] in
      mark.claimThread()
      blockBrokenPipeSignal()
      core.value.run()
    }
    let status = thread.withLock { thread in
      let pointer = UnsafeMutablePointer<uv_thread_t>.allocate(capacity: 1)
      let status = uv_thread_create(
        pointer,
        { data in
          owner(of: data, as: LoopThreadStart.self).body()
          release(data: data)
        }, retainedData(start))
      if status == 0 { thread = pointer } else { pointer.deallocate() }
      return status
    }
    guard status == 0 else { throw channelError(status, doing: "starting the event loop's thread") }
  }
}

private final class LoopThreadStart {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private struct LoopThread: ~Copyable {
  let pointer: UnsafeMutablePointer<uv_thread_t>

  func join() { uv_thread_join(pointer) }

  deinit { pointer.deallocate() }
}

/// Writing to a connection that the peer closed must be an error, not the end of the process. The handler of the whole
/// process is not ours to change.
private func blockBrokenPipeSignal() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}
