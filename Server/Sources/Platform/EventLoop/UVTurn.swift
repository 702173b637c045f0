internal import CUV

/// Work for the end of the loop's present turn: it runs when every event that has arrived was handled, before the loop
/// waits again.
///
/// This is what a timer of no delay means, and once for each read event: a timer of its own would cost ten allocations
/// and one more look at the sockets. An idle handle keeps the loop from waiting while there is work.
final class UVTurn {
  private let idle: UnsafeMutablePointer<uv_idle_t>
  private let check: UnsafeMutablePointer<uv_check_t>
  private var waiting: [(id: TimerID, work: () -> Void)] = []
  /// What runs now, from `next`; both arrays are kept, so that a turn allocates nothing.
  private var running: [(id: TimerID, work: () -> Void)] = []
  private var next = 0
  private var cancelled: Set<TimerID> = []

  init(_ uv: UnsafeMutablePointer<uv_loop_t>) {
    idle = .allocate(capacity: 1)
    check = .allocate(capacity: 1)
    uv_idle_init(uv, idle)
    uv_check_init(uv, check)
    idle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    check.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    uv_check_start(check) { handle in owner(of: handle?.pointee.data, as: UVTurn.self).run() }
    uv_unref(asHandle(check))
  }

  /// After `close`, and after the loop has let go of the handles.
  deinit {
    idle.deallocate()
    check.deallocate()
  }

  func add(_ id: TimerID, _ work: @escaping () -> Void) {
    if waiting.isEmpty {
      uv_idle_start(idle) { handle in owner(of: handle?.pointee.data, as: UVTurn.self).run() }
    }
    waiting.append((id, work))
  }

  /// No effect on work that has run.
  func cancel(_ id: TimerID) {
    let isAhead = waiting.contains { $0.id == id } || running[next...].contains { $0.id == id }
    if isAhead { cancelled.insert(id) }
  }

  /// Drops what waits.
  func close() {
    waiting = []
    cancelled.formUnion(running[next...].map(\.id))
    uv_close(asHandle(idle), nil)
    uv_close(asHandle(check), nil)
  }

  /// What is added meanwhile runs after the sockets were looked at once more, so that it cannot starve them.
  private func run() {
    guard !waiting.isEmpty else { return }
    swap(&waiting, &running)
    uv_idle_stop(idle)
    while next < running.count {
      let (id, work) = running[next]
      next += 1
      if cancelled.isEmpty || cancelled.remove(id) == nil { work() }
    }
    running.removeAll(keepingCapacity: true)
    next = 0
  }
}
