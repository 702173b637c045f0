import PabalPrimitives

/// A reply body that goes on: bounded, with back-pressure, and honest about a client that left.
///
/// The handler returns it in its response and keeps it. Bytes are handed to the kernel in order, as fast as the client
/// reads. The server sends `heartbeat` when nothing was written for `WebServerLimits.heartbeat`, cuts a client that
/// takes nothing for `streamStall`, and calls `onClosed` exactly once, whoever ended it.
package final class BodyStream: Sendable {
  package typealias Producer = @Sendable (BodyStream) async -> Void

  enum Pull: Equatable {
    case bytes(Int)
    case suspended
    case end
  }

  private enum Phase {
    case open
    case finishing
    case closed
  }

  private struct State {
    var phase = Phase.open
    var buffer: [UInt8] = []
    var head = 0
    var taken: UInt64 = 0
    var offered: UInt64 = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var resume: (@Sendable () -> Void)?
    var cut: (@Sendable () -> Void)?
    var closedActions: [@Sendable () -> Void] = []

    var count: Int { buffer.count - head }

    mutating func append(_ bytes: [UInt8]) {
      if head > 0, head == buffer.count || head >= BodyStream.bufferBytes {
        buffer.removeFirst(head)
        head = 0
      }
      buffer.append(contentsOf: bytes)
      offered += UInt64(bytes.count)
    }

    mutating func takeResume() -> (@Sendable () -> Void)? {
      defer { resume = nil }
      return resume
    }
  }

  /// Sent when the stream was silent for long; nil sends none, and a client that left is then never noticed.
  package let heartbeat: [UInt8]?
  /// Run by the server beside the reply, and cancelled with the server; nil when something else fills the stream.
  package let producer: Producer?

  private let limit: Int
  private let state = Locked(State())

  package init(
    limit: Int = BodyStream.bufferBytes, heartbeat: [UInt8]? = BodyStream.eventStreamHeartbeat,
    producer: Producer? = nil
  ) {
    self.limit = limit
    self.heartbeat = heartbeat
    self.producer = producer
  }

  package var isClosed: Bool {
    state.withLock { if case .closed = $0.phase { true } else { false } }
  }

  /// Adds bytes, waiting while the buffer is full. One call may pass the limit by its own length.
  /// - Returns: false when the stream has ended; the bytes are then dropped.
  @discardableResult
  package func write(_ bytes: [UInt8]) async -> Bool {
    while true {
      let decision: Bool? = state.withLock { state in
        guard case .open = state.phase else { return false }
        return state.count < limit ? true : nil
      }
      switch decision {
      case .some(false): return false
      case .some(true): return push(bytes)
      case .none: await room()
      }
    }
  }

  /// Adds bytes without ever waiting. A client whose buffer would pass the limit is cut: it is too slow to be told.
  /// - Returns: false when the stream has ended or was just cut.
  @discardableResult
  package func offer(_ bytes: [UInt8]) -> Bool {
    let full = state.withLock { state in
      guard case .open = state.phase else { return false }
      return state.count + bytes.count > limit
    }
    guard full else { return push(bytes) }
    cut()
    return false
  }

  /// Ends the reply after what is buffered.
  package func finish() {
    let resume = state.withLock { state -> (@Sendable () -> Void)? in
      guard case .open = state.phase else { return nil }
      state.phase = .finishing
      return state.takeResume()
    }
    resume?()
  }

  /// Drops the client at once, without what is buffered.
  package func cut() {
    let cut = state.withLock { $0.cut }
    close()
    cut?()
  }

  /// Runs `action` once when the stream has ended: finished, cut, or left by its client. At once if that was before.
  package func onClosed(_ action: @escaping @Sendable () -> Void) {
    let now = state.withLock { state in
      if case .closed = state.phase { return true }
      state.closedActions.append(action)
      return false
    }
    if now { action() }
  }

  private func push(_ bytes: [UInt8]) -> Bool {
    let (accepted, resume) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard case .open = state.phase else { return (false, nil) }
      state.append(bytes)
      return (true, state.takeResume())
    }
    resume?()
    return accepted
  }

  private func room() async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        guard case .open = state.phase, state.count >= limit else { return true }
        state.waiters.append(continuation)
        return false
      }
      if ready { continuation.resume() }
    }
  }

  // MARK: The server's side

  /// How far the stream has come: bytes given by the producer, bytes taken by the connection.
  var progress: (offered: UInt64, taken: UInt64) {
    state.withLock { ($0.offered, $0.taken) }
  }

  /// Tells how to end the connection under the stream.
  func attach(cut: @escaping @Sendable () -> Void) {
    state.withLock { $0.cut = cut }
  }

  /// Moves bytes into `target`. With none at hand it calls `suspend` under the stream's lock, so that the resume it
  /// returns cannot come first.
  func pull(into target: UnsafeMutableRawBufferPointer, suspend: () -> @Sendable () -> Void) -> Pull {
    let (result, waiters) = state.withLock { state -> (Pull, [CheckedContinuation<Void, Never>]) in
      let count = min(state.count, target.count)
      guard count > 0 else {
        guard case .open = state.phase else { return (.end, []) }
        state.resume = suspend()
        return (.suspended, [])
      }
      state.buffer.withUnsafeBytes { source in
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[state.head..<state.head + count]))
      }
      state.head += count
      state.taken += UInt64(count)
      guard state.count < limit else { return (.bytes(count), []) }
      defer { state.waiters = [] }
      return (.bytes(count), state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return result
  }

  /// The connection is gone, or must go: every waiting producer is told, and the library is woken to see it.
  func close() {
    let (waiters, actions, resume) = state.withLock {
      state -> ([CheckedContinuation<Void, Never>], [@Sendable () -> Void], (@Sendable () -> Void)?) in
      guard state.phase != .closed else { return ([], [], nil) }
      state.phase = .closed
      state.buffer = []
      state.head = 0
      defer {
        state.waiters = []
        state.closedActions = []
        state.cut = nil
      }
      return (state.waiters, state.closedActions, state.takeResume())
    }
    for waiter in waiters { waiter.resume() }
    resume?()
    for action in actions { action() }
  }
}
