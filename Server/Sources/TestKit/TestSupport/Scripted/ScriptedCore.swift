import EventLoop
import PabalPrimitives

/// What a scripted loop consists of: one queue of events in virtual time, and the hosts.
final class ScriptedCore {
  private(set) var now: Instant
  private var generator: SeededGenerator
  let network: ScriptedNetwork
  private var queue = EventQueue()
  private var timers: Set<UInt64> = []
  private var sequence: UInt64 = 0
  private(set) var networkEvents = 0
  private var listeners: [Endpoint: ScriptedListener] = [:]
  private var lastPort: UInt16 = 40_000
  private(set) var connections: [ScriptedConnection] = []
  var onConnect: (ScriptedConnection) -> Void = { _ in }
  var trace = TraceHash()

  init(seed: UInt64, network: ScriptedNetwork, start: Instant) {
    generator = SeededGenerator(seed: seed)
    self.network = network
    now = start
  }

  // MARK: Events

  func schedule(after delay: Duration, _ work: @escaping () -> Void) -> TimerID {
    sequence += 1
    timers.insert(sequence)
    queue.insert(.init(at: now.advanced(by: max(.zero, delay)), sequence: sequence, isTimer: true, work: work))
    return TimerID(sequence)
  }

  func cancel(_ timer: TimerID) {
    timers.remove(timer.value)
  }

  /// Something on its way: `runUntilIdle` waits for it.
  func travel(at arrival: Instant, _ work: @escaping () -> Void) {
    sequence += 1
    networkEvents += 1
    queue.insert(.init(at: max(arrival, now), sequence: sequence, isTimer: false, work: work))
  }

  /// The next event due by `limit`; time moves to it.
  func nextEvent(until limit: Instant) -> (() -> Void)? {
    while let first = queue.first {
      if first.isTimer, !timers.contains(first.sequence) {
        queue.removeFirst()
        continue
      }
      guard first.at <= limit else { return nil }
      queue.removeFirst()
      now = max(now, first.at)
      if first.isTimer { timers.remove(first.sequence) } else { networkEvents -= 1 }
      return first.work
    }
    return nil
  }

  func advance(to instant: Instant) {
    now = max(now, instant)
  }

  func end() {
    queue = EventQueue()
    timers = []
    networkEvents = 0
    listeners = [:]
    onConnect = { _ in }
    // A handler may dial again when it is told of the end; one that never stops doing so is a fault of the test.
    for _ in 0..<16 where !connections.isEmpty {
      let ending = connections
      connections = []
      for connection in ending { connection.end() }
      queue = EventQueue()
    }
  }

  // MARK: Chance

  func latency() -> Duration {
    let low = network.latency.lowerBound.nanosecondsClamped
    let high = network.latency.upperBound.nanosecondsClamped
    return .nanoseconds(Int64.random(in: low...max(low, high), using: &generator))
  }

  func draw(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  // MARK: Hosts

  func listen(
    on endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?
  ) throws(ChannelError) -> any ByteListener {
    var bound = endpoint
    if bound.port == 0 {
      lastPort += 1
      bound.port = lastPort
    }
    guard listeners[bound] == nil else {
      throw ChannelError(.addressInUse, "\(bound) is taken; take port 0 for a free one.")
    }
    let listener = ScriptedListener(core: self, endpoint: bound, accept: accept)
    listeners[bound] = listener
    return listener
  }

  func remove(_ listener: ScriptedListener) {
    listeners[listener.endpoint] = nil
  }

  func connect(to endpoint: Endpoint, handler: any ByteChannelHandler) -> any ByteChannel {
    let connection = ScriptedConnection(core: self, number: connections.count, endpoint: endpoint, dialler: handler)
    connections.append(connection)
    onConnect(connection)
    travel(at: now.advanced(by: latency())) { [self] in
      connection.synArrives(at: listeners[endpoint])
    }
    return connection.client
  }
}

final class ScriptedListener: ByteListener {
  let endpoint: Endpoint
  let accept: (any ByteChannel) -> (any ByteChannelHandler)?
  private weak var core: ScriptedCore?

  var port: UInt16 { endpoint.port }

  init(core: ScriptedCore, endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?) {
    self.core = core
    self.endpoint = endpoint
    self.accept = accept
  }

  func close() { core?.remove(self) }
}

/// A binary heap by time, then by order of insertion.
struct EventQueue {
  struct Event {
    var at: Instant
    var sequence: UInt64
    var isTimer: Bool
    var work: () -> Void

    func precedes(_ other: Event) -> Bool {
      at != other.at ? at < other.at : sequence < other.sequence
    }
  }

  private var events: [Event] = []

  var first: Event? { events.first }

  mutating func insert(_ event: Event) {
    events.append(event)
    var child = events.count - 1
    while child > 0, case let parent = (child - 1) / 2, events[child].precedes(events[parent]) {
      events.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard let last = events.popLast(), !events.isEmpty else { return }
    events[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < events.count {
        if events[child].precedes(events[least]) { least = child }
      }
      guard least != parent else { return }
      events.swapAt(least, parent)
      parent = least
    }
  }
}
