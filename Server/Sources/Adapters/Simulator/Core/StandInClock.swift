import PabalPrimitives

/// The time by which the stand-in judges, which a user may move.
struct StandInClock: Sendable {
  private enum Mode {
    /// Runs beside the given clock, so many milliseconds ahead.
    case real(ahead: Int64)
    case manual(at: Int64)
  }

  private let clock: Clock
  private var mode = Mode.real(ahead: 0)

  init(_ clock: Clock) {
    self.clock = clock
  }

  /// Milliseconds since 1970.
  var now: Int64 {
    switch mode {
    case .real(let ahead): clock.wall().milliseconds + ahead
    case .manual(let time): time
    }
  }

  var monotonic: Instant { clock.monotonic() }

  var isManual: Bool {
    if case .manual = mode { true } else { false }
  }

  mutating func advance(milliseconds: Int64) {
    switch mode {
    case .real(let ahead): mode = .real(ahead: ahead + milliseconds)
    case .manual(let time): mode = .manual(at: time + milliseconds)
    }
  }

  mutating func set(milliseconds: Int64) {
    advance(milliseconds: milliseconds - now)
  }

  /// Stops the time where it is.
  mutating func stop() {
    mode = .manual(at: now)
  }

  /// Goes back to the given clock.
  mutating func run() {
    mode = .real(ahead: 0)
  }
}
