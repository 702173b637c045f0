package import PabalPrimitives

/// One thread of events: sockets, timers and work handed over from other threads.
///
/// Everything but `execute` and `mark` is called on the loop's own thread; every closure and handler runs there.
/// Conformers: `UVLoop` (libuv, real time, real sockets) and `ScriptedLoop` in TestSupport (virtual time).
package protocol Loop: AnyObject, Sendable {
  /// Which thread is this loop's. `LoopConfined` rests on it.
  var mark: LoopMark { get }

  /// Monotonic time, from the clock that the loop was given. A call into that clock each time: read once per batch.
  var now: Instant { get }

  /// Hands work to the loop, from any thread, in FIFO order. Wakes the loop only when its mailbox was empty, so that
  /// thousands of small hand-overs cost few wake-ups. Work handed over after the loop has stopped is dropped.
  func execute(_ work: @escaping @Sendable () -> Void)

  /// Runs `work` once, after at least `delay`.
  @discardableResult
  func schedule(after delay: Duration, _ work: @escaping () -> Void) -> TimerID

  /// No effect on a timer that has fired or was cancelled before.
  func cancel(_ timer: TimerID)

  /// Resolves the host (never cached), then races its addresses (RFC 8305). No deadline of its own: `abort` ends it.
  /// `handler` is retained until `channelDidClose`.
  func connect(to endpoint: Endpoint, handler: any ByteChannelHandler) -> any ByteChannel

  /// Port 0 takes a free port; the listener tells which. `accept` returns the handler of an accepted channel (which is
  /// connected already: `channelDidConnect` is not called), or nil to refuse it.
  func listen(
    on endpoint: Endpoint, accept: @escaping (any ByteChannel) -> (any ByteChannelHandler)?
  ) throws(ChannelError) -> any ByteListener
}

/// Names a timer of one loop.
package struct TimerID: Hashable, Sendable {
  package let value: UInt64

  package init(_ value: UInt64) {
    self.value = value
  }
}

/// A host name or address literal, and a port.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  package var host: String
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// `host:port`, with brackets round an IPv6 literal.
  package var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
