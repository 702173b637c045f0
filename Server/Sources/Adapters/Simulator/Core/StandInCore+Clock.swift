import PabalPrimitives

extension StandInCore {
  /// The time by which the stand-in judges, in milliseconds since 1970.
  package var now: Int64 { clock.now }
  package var clockIsManual: Bool { clock.isManual }

  package mutating func advanceClock(milliseconds: Int64) { clock.advance(milliseconds: milliseconds) }
  package mutating func setClock(milliseconds: Int64) { clock.set(milliseconds: milliseconds) }
  package mutating func stopClock() { clock.stop() }
  package mutating func runClock() { clock.run() }

  /// Sends connections away that have been idle longer than the rules allow. Call it after the clock has moved, and
  /// now and then.
  package mutating func endIdleConnections() -> [StandInAction] {
    guard let limit = rules.idleTimeoutMs else { return [] }
    let now = clock.now
    let idle = connections.filter { _, connection in
      now - connection.lastActivity >= limit && connection.lastStream == .max
        && max(connection.silentUntil ?? .zero, connection.delayedUntil ?? .zero) <= clock.monotonic
    }
    var actions: [StandInAction] = []
    for (id, connection) in idle.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      connections[id]?.lastStream = connection.highestStream
      statistics.goaways += 1
      let debug = Self.goawayDebug(StandInReason.idleTimeout.word)
      actions += [.goaway(id, lastStream: connection.highestStream, debug: debug), .close(id)]
    }
    return actions
  }
}
