internal import PabalPrimitives

/// One slot of the ledger. Plain bytes: the ledger holds tens of thousands and scans them.
struct LedgerEntry: Sendable {
  enum Phase: UInt8, Sendable {
    /// Can transition to: waiting.
    case free
    /// In the line. Can transition to: submitted, free.
    case waiting
    /// With a connection, of which the kernel has taken nothing. Can transition to: written, waiting, delayed, free.
    case submitted
    /// The peer may know it. Can transition to: waiting, delayed, free.
    case written
    /// Waits for the moment of its repeat. Can transition to: waiting, free.
    case delayed
  }

  var phase = Phase.free
  var repeatsUnknown = false
  var hasRepeatedUnknown = false
  var hasFreshCredential = false
  var isCanceled = false
  var generation: UInt32 = 0
  /// Requests of which the kernel took a byte, those that the peer did not process left out.
  var attempts: UInt16 = 0
  /// Repeats after a 429, 500 or 503.
  var repeats: UInt16 = 0
  /// Repeats of what was never processed.
  var freeRepeats: UInt16 = 0
  var attemptLimit: UInt16 = 1
  var connection = ConnectionKey(rawValue: 0)
  /// Nanoseconds of the monotonic clock; `.max`: none.
  var deadline: UInt64 = .max
  var requestDeadline: UInt64 = .max
  var started: UInt64 = .max

  var earliestDeadline: UInt64 {
    phase == .submitted || phase == .written ? min(deadline, requestDeadline) : deadline
  }

  var hadTrouble: Bool {
    repeats > 0 || freeRepeats > 0 || hasRepeatedUnknown || hasFreshCredential
  }

  mutating func begin(_ terms: DeliveryTerms) {
    let generation = generation
    self = LedgerEntry()
    self.generation = generation
    phase = .waiting
    repeatsUnknown = terms.repeatsUnknown
    attemptLimit = UInt16(clamping: max(1, terms.attemptLimit))
    deadline = terms.deadline?.nanoseconds ?? .max
  }

  mutating func submit(on key: ConnectionKey, deadline: UInt64, now: Instant) {
    phase = .submitted
    connection = key
    requestDeadline = deadline
    if started == .max { started = now.nanoseconds }
  }

  mutating func write() {
    guard phase == .submitted else { return }
    phase = .written
    attempts &+= 1
  }

  mutating func unwrite() {
    if phase == .written { attempts -= 1 }
  }

  mutating func finish() {
    phase = .free
    generation &+= 1
  }
}
