internal import CUV
import PabalPrimitives

/// The part of a loop that only its thread sees: the libuv loop, its timers and its open handles.
final class UVLoopCore {
  /// Large enough for four TLS records. One for all channels: a read is handed on before the next one begins.
  static let readBufferBytes = 64 * 1024

  let uv: UnsafeMutablePointer<uv_loop_t>
  let readBuffer: UnsafeMutableRawBufferPointer
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let mailbox: UVMailbox
  /// Empty, kept for its memory.
  private var spareMail: [@Sendable () -> Void] = []
  private static let spareMailMaximum = 1024
  private let turn: UVTurn
  /// Names that are not asked of the system's resolver, with their addresses.
  let hosts: [String: [String]]
  private var timers: [TimerID: UVTimer] = [:]
  private var lastTimer: UInt64 = 0
  private var open: [ObjectIdentifier: any UVStoppable] = [:]
  private(set) var isStopping = false

  init(mailbox: UVMailbox, hosts: [String: [String]]) throws(ChannelError) {
    self.hosts = hosts
    let uv = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let status = uv_loop_init(uv)
    guard status == 0 else {
      uv.deallocate()
      throw channelError(status, doing: "making an event loop")
    }
    let wake = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    let wakeStatus = uv_async_init(uv, wake) { handle in
      owner(of: handle?.pointee.data, as: UVLoopCore.self).emptyMailbox()
    }
    guard wakeStatus == 0 else {
      uv_loop_close(uv)
      wake.deallocate()
      uv.deallocate()
      throw channelError(wakeStatus, doing: "making an event loop")
    }
    self.uv = uv
    self.wake = wake
    self.mailbox = mailbox
    turn = UVTurn(uv)
    readBuffer = .allocate(byteCount: Self.readBufferBytes, alignment: 16)
    wake.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    mailbox.open(waking: wake)
  }

  /// The loop was run to its end, or never.
  deinit {
    if !isStopping {
      mailbox.close()
      turn.close()
      uv_close(asHandle(wake), nil)
      uv_run(uv, UV_RUN_DEFAULT)
      uv_loop_close(uv)
    }
    wake.deallocate()
    uv.deallocate()
    readBuffer.deallocate()
  }

  /// Returns after `stop`, when every handle is closed.
  func run() {
    // Work handed over before the thread ran found the mailbox without a listener.
    emptyMailbox()
    uv_run(uv, UV_RUN_DEFAULT)
    let status = uv_loop_close(uv)
    precondition(status == 0, "a handle outlived its event loop")
  }

  func stop() {
    isStopping = true
    mailbox.close()
    for handle in open.values { handle.loopWillStop() }
    for timer in timers.keys { cancel(timer) }
    turn.close()
    uv_close(asHandle(wake), nil)
  }

  private func emptyMailbox() {
    var taken: [@Sendable () -> Void] = []
    swap(&taken, &spareMail)
    mailbox.takeAll(into: &taken)
    for work in taken { work() }
    // The memory of a burst is given back.
    guard taken.capacity <= Self.spareMailMaximum else { return }
    taken.removeAll(keepingCapacity: true)
    spareMail = taken
  }

  // MARK: Open handles, so that `stop` reaches them

  func register(_ handle: any UVStoppable) {
    open[ObjectIdentifier(handle)] = handle
  }

  func unregister(_ handle: any UVStoppable) {
    open[ObjectIdentifier(handle)] = nil
  }

  // MARK: Timers

  @discardableResult
  func schedule(after delay: Duration, _ work: @escaping () -> Void) -> TimerID {
    lastTimer += 1
    let id = TimerID(lastTimer)
    guard !isStopping else { return id }
    if delay <= .zero {
      turn.add(id, work)
      return id
    }
    timers[id] = UVTimer(core: self, delay: delay) { [unowned self] in
      timers[id] = nil
      work()
    }
    return id
  }

  func cancel(_ timer: TimerID) {
    if let timer = timers.removeValue(forKey: timer) { timer.close() } else { turn.cancel(timer) }
  }
}

/// What `stop` must end.
protocol UVStoppable: AnyObject {
  func loopWillStop()
}

/// One shot.
private final class UVTimer {
  private var handle: UnsafeMutablePointer<uv_timer_t>?
  private let work: () -> Void

  init(core: UVLoopCore, delay: Duration, work: @escaping () -> Void) {
    let handle = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    self.handle = handle
    self.work = work
    uv_timer_init(core.uv, handle)
    handle.pointee.data = retainedData(self)
    // libuv counts from the time cached at the turn's begin, which a long turn has left behind.
    uv_update_time(core.uv)
    let (seconds, attoseconds) = delay.components
    let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    uv_timer_start(
      handle,
      { handle in
        let timer = owner(of: handle?.pointee.data, as: UVTimer.self)
        timer.close()
        timer.work()
      }, UInt64(max(0, milliseconds)), 0)
  }

  func close() {
    guard let handle else { return }
    self.handle = nil
    uv_close(asHandle(handle)) { handle in
      release(data: handle?.pointee.data)
      UnsafeMutableRawPointer(handle)?.deallocate()
    }
  }
}
