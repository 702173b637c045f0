import PabalPrimitives

/// Wakes the streams of device links. A bell rung twice before it is heard is heard once: what there is to say is asked
/// from the core, so nothing piles up here.
package final class LinkBoard: Sendable {
  private let bells = Locked<[StandInLinkID: AsyncStream<Void>.Continuation]>([:])

  package init() {}

  /// The bell of a link, rung once for its beginning.
  func open(_ link: StandInLinkID) -> AsyncStream<Void> {
    let (bell, ringer) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    bells.withLock { $0[link] = ringer }
    ringer.yield()
    return bell
  }

  package func wake(_ link: StandInLinkID) {
    bells.withLock { $0[link] }?.yield()
  }

  func close(_ link: StandInLinkID) {
    bells.withLock { $0.removeValue(forKey: link) }?.finish()
  }
}
