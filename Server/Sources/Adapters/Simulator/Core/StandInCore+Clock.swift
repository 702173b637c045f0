extension StandInCore {
  /// The time by which the stand-in judges, in milliseconds since 1970.
  package var now: Int64 { clock.now }
  package var clockIsManual: Bool { clock.isManual }

  package mutating func advanceClock(milliseconds: Int64) { clock.advance(milliseconds: milliseconds) }
  package mutating func setClock(milliseconds: Int64) { clock.set(milliseconds: milliseconds) }
  package mutating func stopClock() { clock.stop() }
  package mutating func runClock() { clock.run() }
}
