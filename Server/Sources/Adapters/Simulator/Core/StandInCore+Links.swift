extension StandInCore {
  /// A phone's stream to its device opens. Pushes of earlier streams newer than `lastEventID` are said again, then the
  /// stored ones, in order; an older stream is told that it is replaced.
  package mutating func openLink(
    device id: String, lastEventID: String?
  ) throws(StandInDeviceFault) -> (link: StandInLinkID, actions: [StandInAction]) {
    guard let index = indexByID[id] else { throw .unknownDevice }
    guard devices[index].state == .registered else { throw .notRegistered }
    var actions: [StandInAction] = []
    if case .followsLink(.some(let older)) = devices[index].presence {
      actions.append(.wake(older.id))
    }
    linkSequence += 1
    var link = StandInLink(id: StandInLinkID(rawValue: linkSequence))
    if let lastEventID {
      // An id from before a restart or reset is none of ours: then everything kept is said again.
      let last = StandInPush.sequence(ofID: lastEventID) ?? 0
      let after = last > pushSequence ? 0 : last
      link.queue = devices[index].inbox.filter { $0.wasLinked && $0.sequence > after }.map(\.sequence)
    }
    link.queue += unwritten(at: index) + releaseStored(at: index)
    link.queue = Array(Set(link.queue)).sorted()
    devices[index].presence = .followsLink(link)
    deviceOfLink[link.id] = index
    actions.append(.wake(link.id))
    return (link.id, actions)
  }

  /// The next thing that a stream says; `nil` when there is nothing now. After `replaced` and `ended` it closes.
  package mutating func nextLinkEvent(_ id: StandInLinkID) -> StandInLinkEvent? {
    guard let index = deviceOfLink[id] else { return .ended }
    guard case .followsLink(.some(var link)) = devices[index].presence, link.id == id else {
      deviceOfLink[id] = nil
      if case .followsLink(.some) = devices[index].presence { return .replaced }
      return .ended
    }
    guard link.saidReady else {
      link.saidReady = true
      devices[index].presence = .followsLink(link)
      return .ready(devices[index])
    }
    while !link.queue.isEmpty {
      let sequence = link.queue.removeFirst()
      devices[index].presence = .followsLink(link)
      guard let position = position(of: sequence, at: index) else { continue }
      devices[index].inbox[position].state = .displayed
      devices[index].inbox[position].wasLinked = true
      return .push(devices[index].inbox[position])
    }
    return nil
  }

  /// A stream is gone. If it was the newest, its device is offline now, and what it had not yet said is stored.
  package mutating func linkClosed(_ id: StandInLinkID) {
    guard let index = deviceOfLink.removeValue(forKey: id) else { return }
    guard case .followsLink(.some(let link)) = devices[index].presence, link.id == id else { return }
    devices[index].presence = .followsLink(nil)
    putBack(link, at: index)
  }

  /// Takes a device's link away; its stream ends by itself when woken.
  mutating func endLink(at index: Int) -> [StandInAction] {
    guard case .followsLink(.some(let link)) = devices[index].presence else { return [] }
    devices[index].presence = .followsLink(nil)
    deviceOfLink[link.id] = nil
    putBack(link, at: index)
    return [.wake(link.id)]
  }

  private mutating func putBack(_ link: StandInLink, at index: Int) {
    for sequence in link.queue {
      guard let position = position(of: sequence, at: index), !devices[index].inbox[position].wasLinked else {
        continue
      }
      store(sequence, at: index)
    }
  }

  /// What a replaced stream had in its queue and never said.
  private func unwritten(at index: Int) -> [Int] {
    guard case .followsLink(.some(let link)) = devices[index].presence else { return [] }
    return link.queue
  }
}
