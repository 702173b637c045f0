/// What becomes of the pushes of one connection that is going away (RFC 9113 section 6.8).
///
/// Streams above the last stream id were not processed: they go back into the line, once, and are sent on another
/// connection with the same `apns-id`. Streams up to it may still be answered here. After GOAWAY the connection is
/// never used for a new push, however long the peer keeps the socket open.
package struct GoawayMachine: Sendable {
  package enum Event: Equatable, Sendable {
    /// The peer wants us gone. A second GOAWAY may only lower the last stream id.
    case goaway(lastStreamID: Int32)
    /// We want to go (replacement, shutdown): no new pushes, the open ones run out.
    case retire
    /// The peer did not process these: above the last stream id, or `REFUSED_STREAM`.
    case unprocessed([PushTag])
    /// No stream is open any more.
    case drained
    /// The connection ended. `lost` were written and have no reply; of `unsent` the kernel took no byte.
    case closed(lost: [PushTag], unsent: [PushTag])
  }

  package enum Action: Equatable, Sendable {
    /// No new pushes here; the pool needs another connection. `byPeer`: it was the peer who wanted it, or the
    /// connection just ended.
    case retire(byPeer: Bool)
    /// Not processed: back into the line.
    case giveBack([PushTag])
    /// Written, and no reply will come.
    case lose([PushTag])
    /// Nothing is open here any more: close it.
    case close
  }

  private enum State: Equatable {
    /// Can transition to: leaving, closed.
    case open
    /// Can transition to: closing, closed.
    case leaving
    /// We closed it. Can transition to: closed.
    case closing
    case closed
  }

  private var state = State.open
  private var settled: Set<PushTag> = []
  /// The lowest last stream id that the peer named.
  package private(set) var lastStreamID: Int32?

  private let planted: PlantedBug?
  private var goaways = 0

  package init(planted: PlantedBug? = nil) {
    self.planted = planted
  }

  /// Whether a new push may be written here.
  package var acceptsPushes: Bool { state == .open }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .goaway(let last):
      lastStreamID = min(lastStreamID ?? last, last)
      goaways += 1
      return leave(byPeer: true)
    case .retire:
      return leave(byPeer: false)
    case .unprocessed where planted == .dropOnSecondGoaway && goaways > 1:
      return []
    case .unprocessed(let tags):
      // Refused on an open connection, a push may come here again; on a leaving one it may be given back once only.
      let fresh = state == .open ? tags : tags.filter { settled.insert($0).inserted }
      return fresh.isEmpty ? [] : [.giveBack(fresh)]
    case .drained:
      guard state == .leaving else { return [] }
      state = .closing
      return [.close]
    case .closed(let lost, let unsent):
      return end(lost: lost, unsent: unsent)
    }
  }

  private mutating func leave(byPeer: Bool) -> [Action] {
    guard state == .open else { return [] }
    state = .leaving
    return [.retire(byPeer: byPeer)]
  }

  private mutating func end(lost: [PushTag], unsent: [PushTag]) -> [Action] {
    guard state != .closed else { return [] }
    let wasOpen = state == .open
    state = .closed
    var actions: [Action] = wasOpen ? [.retire(byPeer: true)] : []
    let back = unsent.filter { settled.insert($0).inserted }
    let gone = lost.filter { settled.insert($0).inserted }
    if !back.isEmpty { actions.append(.giveBack(back)) }
    if !gone.isEmpty { actions.append(.lose(gone)) }
    settled = []
    return actions
  }
}
