import EventLoop
import PabalPrimitives

/// One end of a scripted connection: what it sends, and what has arrived for it.
final class ScriptedChannel: ByteChannel {
  /// As `UVChannel` lingers.
  private static let lingerTime = Duration.seconds(1)

  private enum State {
    /// Can transition to: open, ended.
    case connecting
    /// Can transition to: closing, ended.
    case open
    /// What is written still goes out; what arrives is discarded. Can transition to: ended.
    case closing
    case ended
  }

  private unowned let core: ScriptedCore
  private let sends: ScriptedDirection
  weak var connection: ScriptedConnection?
  var handler: (any ByteChannelHandler)?
  private var state = State.connecting

  /// Written, not taken by the kernel.
  private var waiting: [UInt8] = []
  /// Taken, not read by the other side.
  private var underWay = 0
  /// Of the last byte or signal, so that order is kept.
  private var lastArrival = Instant.zero
  private let capacity: Int
  private(set) var totalBytesTaken: UInt64 = 0
  private(set) var totalArrived: UInt64 = 0
  /// Nothing that we send arrives any more, without a word.
  var isStalled = false
  /// Reset by the script: what was under way is lost.
  private var isLost = false
  private var hasSentEnd = false

  /// Arrived for us while reading was paused.
  private var held: [[UInt8]] = []
  private var isPaused = false
  private var peerHasEnded = false

  init(core: ScriptedCore, sends: ScriptedDirection, handler: (any ByteChannelHandler)?) {
    self.core = core
    self.sends = sends
    self.handler = handler
    capacity = core.draw(core.network.capacity)
  }

  var isAlive: Bool { state != .ended }
  var unsentBytes: Int { waiting.count }

  private var peer: ScriptedChannel? {
    sends == .toServer ? connection?.server : connection?.client
  }

  /// What was written before, or is written from now on, arrives no earlier than `instant`.
  func open(noArrivalBefore instant: Instant) {
    guard state == .connecting else { return }
    state = .open
    lastArrival = instant
  }

  // MARK: Sending

  func write(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .connecting: waiting.append(contentsOf: bytes)
    case .open:
      waiting.append(contentsOf: bytes)
      take()
    case .closing, .ended: break
    }
  }

  /// For bytes that were written before the channel was connected.
  func flushWaiting() {
    guard !waiting.isEmpty else { return }
    take()
    handler?.channelDidFlush(totalBytesTaken: totalBytesTaken)
  }

  /// Gives the kernel what it has room for.
  private func take() {
    var room = capacity - underWay
    if sends == .toServer, let connection {
      room = min(room, Int(clamping: connection.takeAtMost - min(connection.takeAtMost, totalBytesTaken)))
    }
    let count = min(waiting.count, room)
    guard count > 0 else { return }
    totalBytesTaken += UInt64(count)
    underWay += count
    var rest = waiting[..<count]
    for left in stride(from: core.draw(1...core.network.chunksPerWrite), through: 1, by: -1) where !rest.isEmpty {
      let size = left == 1 ? rest.count : core.draw(1...rest.count)
      let chunk = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      travel { [self] in arrives(chunk) }
    }
    waiting.removeFirst(count)
    if waiting.isEmpty, state == .closing { sendEnd() }
  }

  /// After everything sent before.
  private func travel(_ arrival: @escaping () -> Void) {
    lastArrival = max(lastArrival, core.now.advanced(by: core.latency()))
    core.travel(at: lastArrival, arrival)
  }

  private func arrives(_ chunk: [UInt8]) {
    guard !isLost, !isStalled, let connection, let peer else { return }
    let allowance = connection.allowance(sends)
    let seen = chunk.prefix(Int(clamping: allowance))
    if seen.count < chunk.count { isStalled = true }
    guard !seen.isEmpty else { return }
    totalArrived += UInt64(seen.count)
    core.trace.add(core.now.nanoseconds)
    core.trace.add(UInt64(connection.number) << 1 | (sends == .toServer ? 0 : 1))
    core.trace.add(seen)
    connection.onArrival?(sends, seen)
    if peer.receives(Array(seen)) { wasRead(seen.count) }
    connection.applyFaults(sends)
  }

  private func wasRead(_ count: Int) {
    underWay -= count
    guard !waiting.isEmpty, state == .open || state == .closing else { return }
    let before = totalBytesTaken
    take()
    if totalBytesTaken != before { handler?.channelDidFlush(totalBytesTaken: totalBytesTaken) }
  }

  // MARK: Receiving

  /// False: held until reading goes on.
  private func receives(_ bytes: [UInt8]) -> Bool {
    guard state == .open else { return true }
    if isPaused {
      held.append(bytes)
      return false
    }
    bytes.withUnsafeBytes { handler?.channelDidReceive($0) }
    return true
  }

  func pauseReading() { isPaused = true }

  func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    core.travel(at: core.now) { [self] in readHeld() }
  }

  private func readHeld() {
    while !isPaused, state == .open, !held.isEmpty {
      let bytes = held.removeFirst()
      bytes.withUnsafeBytes { handler?.channelDidReceive($0) }
      peer?.wasRead(bytes.count)
    }
    if held.isEmpty, peerHasEnded { finish(nil) }
  }

  // MARK: Ending

  func close() {
    switch state {
    case .connecting: abort()
    case .open:
      state = .closing
      held = []
      if waiting.isEmpty { sendEnd() }
    case .closing, .ended: break
    }
  }

  private func sendEnd() {
    guard !hasSentEnd else { return }
    hasSentEnd = true
    travel { [self] in if !isStalled, !isLost { peer?.endArrives() } }
    _ = core.schedule(after: Self.lingerTime) { [weak self] in self?.finish(nil) }
  }

  private func endArrives() {
    peerHasEnded = true
    if held.isEmpty || state == .closing { finish(nil) }
  }

  func abort() {
    guard state != .ended else { return }
    let wasConnected = state != .connecting
    state = .ended
    waiting = []
    core.travel(at: core.now) { [self] in tellEnd(nil) }
    guard wasConnected else { return }
    travel { [self] in
      if !isStalled, !isLost {
        peer?.fail(ChannelError(.reset, "The other side reset the connection."))
      }
    }
  }

  /// Ends both what we send and what comes to us; told on a later turn.
  func fail(_ error: ChannelError?) {
    isLost = true
    guard state != .ended else { return }
    state = .ended
    core.travel(at: core.now.advanced(by: core.latency())) { [self] in tellEnd(error) }
  }

  /// Orderly: the other side's end has come, or ours was not answered in time. A channel that had not said its own end
  /// says it now.
  private func finish(_ error: ChannelError?) {
    guard state != .ended else { return }
    if !hasSentEnd {
      hasSentEnd = true
      travel { [self] in if !isStalled, !isLost { peer?.endArrives() } }
    }
    state = .ended
    tellEnd(error)
  }

  func end() {
    state = .ended
    waiting = []
    held = []
    tellEnd(ChannelError(.loopStopped, "The scripted loop was ended."))
  }

  private func tellEnd(_ error: ChannelError?) {
    let handler = handler
    self.handler = nil
    handler?.channelDidClose(error)
  }
}
