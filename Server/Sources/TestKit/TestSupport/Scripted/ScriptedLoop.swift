package import EventLoop
package import PabalPrimitives

/// A loop in virtual time over a network in memory, for tests that replay from a seed.
///
/// Bytes of a connection keep their order; chunks, delays, and the order across connections come from the seed. Nothing
/// happens unless a `run…` call is under way; one thread at a time drives it. Faults are set per connection, in
/// `onConnect` or later. Any number of hosts listen in one process.
package final class ScriptedLoop: Loop {
  package let mark = LoopMark(bindsThread: false)
  private let mailbox = Locked<[@Sendable () -> Void]>([])
  private let time: Locked<Instant>
  private let confined: LoopConfined<ScriptedCore>

  /// - Parameter network: how the bytes travel.
  package init(seed: UInt64, network: ScriptedNetwork = .init()) {
    let start = Instant.zero.advanced(by: .seconds(1))
    time = Locked(start)
    confined = LoopConfined(ScriptedCore(seed: seed, network: network, start: start), to: mark)
  }

  private var core: ScriptedCore { confined.value }

  // MARK: Loop

  package var now: Instant { core.now }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    mailbox.withLock { $0.append(work) }
  }

  @discardableResult
  package func schedule(after delay: Duration, _ work: @escaping () -> Void) -> TimerID {
    core.schedule(after: delay, work)
  }

  package func cancel(_ timer: TimerID) {
    core.cancel(timer)
  }

  package func connect(to endpoint: Endpoint, handler: any ByteChannelHandler) -> any ByteChannel {
    core.connect(to: endpoint, handler: handler)
  }

  package func listen(
    on endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?
  ) throws(ChannelError) -> any ByteListener {
    try core.listen(on: endpoint, accept: accept)
  }

  // MARK: Driving

  /// Both clocks follow virtual time; civil time starts at 2027-01-15T08:00:01Z. May be read on any thread.
  package var clock: Clock {
    let time = time
    return Clock(
      monotonic: { time.withLock { $0 } },
      wall: {
        WallTime(milliseconds: 1_800_000_000_000).advanced(by: Instant.zero.duration(to: time.withLock { $0 }))
      })
  }

  /// Runs the next event, moving time to it; false when nothing is left that is due by `limit`.
  package func step(until limit: Instant = Instant(nanoseconds: .max)) -> Bool {
    if emptyMailbox() { return true }
    guard let work = core.nextEvent(until: limit) else { return false }
    time.withLock { $0 = core.now }
    work()
    return true
  }

  /// Runs everything due within `duration`, then moves time to its end.
  package func run(for duration: Duration) {
    let end = core.now.advanced(by: duration)
    while step(until: end) {}
    core.advance(to: end)
    time.withLock { $0 = core.now }
  }

  /// Runs until no byte is under way and the mailbox is empty. Timers that fall due before a byte arrives run in their
  /// turn; later ones wait.
  package func runUntilIdle() {
    while core.networkEvents > 0 || hasMail { _ = step() }
  }

  /// Runs until `condition` holds; false when it did not within `duration`.
  package func run(until condition: () -> Bool, within duration: Duration) -> Bool {
    let end = core.now.advanced(by: duration)
    while !condition() {
      guard step(until: end) else {
        core.advance(to: end)
        time.withLock { $0 = core.now }
        return condition()
      }
    }
    return true
  }

  /// Ends every channel with `loop_stopped`, as `UVLoop.stop` does, and forgets every event and host. What is open
  /// holds its loop and is held by it, so a test that leaves connections open ends with this.
  package func end() {
    mailbox.withLock { $0 = [] }
    core.end()
  }

  private var hasMail: Bool { mailbox.withLock { !$0.isEmpty } }

  private func emptyMailbox() -> Bool {
    let work = mailbox.withLock { work in
      defer { work = [] }
      return work
    }
    for item in work { item() }
    return !work.isEmpty
  }

  // MARK: Network

  /// Called for each connection when it is dialled, before anything happens on it: the place to set faults.
  package var onConnect: (ScriptedConnection) -> Void {
    get { core.onConnect }
    set { core.onConnect = newValue }
  }

  /// In the order dialled.
  package var connections: [ScriptedConnection] { core.connections }

  /// FNV-1a over every delivery: time, connection, direction, bytes. Equal for equal seeds and programs.
  package var traceHash: UInt64 { core.trace.value }
}

/// How bytes travel.
package struct ScriptedNetwork: Sendable {
  /// Of one chunk, each way.
  package var latency: ClosedRange<Duration>
  /// A write is cut into at most this many chunks.
  package var chunksPerWrite: Int
  /// What the two kernels hold of one direction, drawn for each connection.
  package var capacity: ClosedRange<Int>

  package init(
    latency: ClosedRange<Duration> = .microseconds(50) ... .milliseconds(5), chunksPerWrite: Int = 3,
    capacity: ClosedRange<Int> = 32 * 1024...512 * 1024
  ) {
    self.latency = latency
    self.chunksPerWrite = chunksPerWrite
    self.capacity = capacity
  }
}

/// Incremental FNV-1a over 64-bit words.
struct TraceHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01b3
  }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
  }
}
