internal import APNs
internal import Delivery
internal import EventLoop
internal import PabalModel
internal import PabalPrimitives

/// Outcomes on their way to who waits for them.
extension TransportCore {
  func finish(_ endings: [DeliveryEnding]) {
    let now = loop.now
    let slots = slots
    var next = 0
    while next < endings.count {
      // Neighbours mostly belong to one batch: it is looked up once.
      let place = slots[endings[next].tag.slot].batch
      var end = next + 1
      while end < endings.count, slots[endings[end].tag.slot].batch == place { end += 1 }
      guard let batch = batches[Int(place)] else { preconditionFailure("an open push belongs to a batch") }
      let isFirst = batch.record { entries, ready in
        for index in next..<end {
          let place = slots[endings[index].tag.slot].index
          ready.append(outcome(of: entries[Int(place)], at: place, endings[index], now: now))
        }
      }
      if isFirst { dirtyBatches.append(Int(place)) }
      next = end
    }
  }

  private func outcome(
    of entry: PushBatch.Entry, at index: Int32, _ ending: DeliveryEnding, now: Instant
  ) -> APNsOutcome {
    APNsOutcome(
      tag: entry.tag, index: index, state: ending.state, apnsID: entry.apnsID, attempts: ending.attempts,
      nanoseconds: ending.started.map { Int64(clamping: max($0, now).nanoseconds - $0.nanoseconds) } ?? 0,
      connection: ending.started == nil ? 0 : ending.connection.rawValue, detail: takeDetail(of: ending))
  }

  private func takeDetail(of ending: DeliveryEnding) -> APNsOutcome.Detail? {
    let reply = replies.isEmpty ? nil : replies.removeValue(forKey: ending.tag)
    let unique = uniqueIDs.isEmpty ? nil : uniqueIDs.removeValue(forKey: ending.tag)
    let retryAfter = retryAfters.isEmpty ? nil : retryAfters.removeValue(forKey: ending.tag)
    if ending.state == .accepted, unique == nil, retryAfter == nil { return nil }
    return APNsOutcome.Detail(
      reason: ending.reason, reply: ending.state == .accepted ? nil : reply, apnsUniqueID: unique,
      retryAfter: retryAfter)
  }

  func deliver() {
    guard !dirtyBatches.isEmpty else { return }
    var dirty: [Int] = []
    swap(&dirty, &dirtyBatches)
    for place in dirty {
      guard let batch = batches[place] else { continue }
      if batch.open == 0 {
        batches[place] = nil
        places[batch.id] = nil
        freeBatches.append(place)
      }
      batch.deliver()
    }
    dirty.removeAll(keepingCapacity: true)
    if dirtyBatches.isEmpty { swap(&dirty, &dirtyBatches) }
  }
}
