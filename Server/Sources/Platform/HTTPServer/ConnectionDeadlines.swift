import PabalPrimitives

/// When each connection must have moved on. The library has only an inactivity timeout, which a byte every two seconds
/// defeats, and none at all for suspended connections; here time is counted from where a phase began.
struct ConnectionDeadlines {
  enum Phase: Sendable, Equatable {
    /// Can transition to: `head`.
    case idle
    /// The request line is in. Can transition to: `body`, `replying`.
    case head
    /// Can transition to: `handling`, `replying`.
    case body
    /// Can transition to: `replying`, `streaming`.
    case handling
    /// Can transition to: `idle`.
    case replying
    /// No deadline: heartbeats and stalls end it. Can transition to: `idle`.
    case streaming
  }

  struct Overdue: Equatable {
    let connection: Int
    let descriptor: CInt
    let phase: Phase
  }

  private struct Entry {
    let descriptor: CInt
    var phase = Phase.idle
    var due: Instant?
  }

  private let limits: WebServerLimits
  private var entries: [Int: Entry] = [:]

  init(limits: WebServerLimits) {
    self.limits = limits
  }

  var count: Int { entries.count }

  mutating func opened(_ connection: Int, descriptor: CInt, now: Instant) {
    entries[connection] = Entry(descriptor: descriptor, due: now.advanced(by: limits.idle))
  }

  mutating func closed(_ connection: Int) {
    entries[connection] = nil
  }

  mutating func enter(_ phase: Phase, _ connection: Int, now: Instant) {
    let due = allowance(phase).map { now.advanced(by: $0) }
    entries[connection]?.phase = phase
    entries[connection]?.due = due
  }

  func descriptor(of connection: Int) -> CInt? {
    entries[connection]?.descriptor
  }

  func descriptors(in phase: Phase) -> [CInt] {
    entries.values.filter { $0.phase == phase }.map(\.descriptor)
  }

  /// Those whose time is over. Each is named once; what is done about it must end it.
  mutating func overdue(now: Instant) -> [Overdue] {
    let late = entries.filter { $0.value.due.map { $0 <= now } ?? false }
    for key in late.keys { entries[key]?.due = nil }
    return late.map { Overdue(connection: $0.key, descriptor: $0.value.descriptor, phase: $0.value.phase) }
  }

  private func allowance(_ phase: Phase) -> Duration? {
    switch phase {
    case .idle: limits.idle
    case .head: limits.head
    case .body: limits.body
    case .handling: limits.handling
    case .replying: limits.reply
    case .streaming: nil
    }
  }
}
