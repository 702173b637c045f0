/// How many requests one connection (or the whole transport) may have open.
///
/// Follows the peer's `SETTINGS_MAX_CONCURRENT_STREAMS` (RFC 9113 section 5.1.2) wherever it goes, 1 → N → 0 → N:
/// below the number of open streams nothing is cut off, nothing new is opened; 0 is a pause, not an error.
package struct PermitMachine: Sendable {
  package enum Event: Equatable, Sendable {
    /// The peer's SETTINGS allow this many streams.
    case settings(limit: Int)
    case opened(Int)
    /// Answered, reset, refused or lost: the stream is no more.
    case closed(Int)
    /// No new streams from now on (GOAWAY, replacement). Open ones run out.
    case retired
  }

  package enum Action: Equatable, Sendable {
    /// There was no room and now there is, for this many.
    case resume(Int)
    /// There was room and now there is none.
    case pause
    /// Retired, and the last stream has gone.
    case drained
  }

  private let ownLimit: Int
  private let planted: PlantedBug?
  private var peerLimit: Int
  private var isRetired = false
  private var closedEver = 0
  package private(set) var inFlight = 0

  /// - Parameters:
  ///   - ownLimit: our own ceiling, whatever the peer allows.
  ///   - peerLimit: until the first SETTINGS; 0 for a connection, `Int.max` where no peer limits.
  package init(ownLimit: Int, peerLimit: Int, planted: PlantedBug? = nil) {
    self.ownLimit = ownLimit
    self.peerLimit = peerLimit
    self.planted = planted
  }

  /// Streams that may be opened now.
  package var available: Int {
    isRetired ? 0 : max(0, min(ownLimit, peerLimit) - inFlight)
  }

  package mutating func handle(_ event: Event) -> Action? {
    let before = available
    let hadDrained = isDrained
    switch event {
    case .settings(let limit):
      peerLimit = max(0, limit)
    case .opened(let count):
      inFlight += count
    case .closed(let count):
      release(count)
    case .retired:
      isRetired = true
    }
    if isDrained, !hadDrained { return .drained }
    if before == 0, available > 0 { return .resume(available) }
    if before > 0, available == 0 { return .pause }
    return nil
  }

  private var isDrained: Bool { isRetired && inFlight == 0 }

  private mutating func release(_ count: Int) {
    precondition(count <= inFlight, "more streams closed than were opened")
    closedEver += count
    let leaked = planted == .leakPermit && closedEver % 7 < count ? 1 : 0
    inFlight -= max(0, count - leaked)
  }
}
