/// Keeps all inboxes together within a bound of bytes, oldest push first.
struct InboxBudget: Sendable {
  private struct Entry {
    let device: Int
    let sequence: Int
  }

  private var order: [Entry] = []
  private var head = 0
  private(set) var bytes = 0
  private var live = 0
  /// Pushes that had to go for the sake of newer ones.
  private(set) var dropped = 0

  mutating func added(_ push: StandInPush, to device: Int) {
    order.append(Entry(device: device, sequence: push.sequence))
    bytes += push.size
    live += 1
  }

  mutating func removed(_ push: StandInPush) {
    bytes -= push.size
    live -= 1
    dropped += 1
  }

  mutating func forget(_ pushes: [StandInPush]) {
    bytes -= pushes.reduce(0) { $0 + $1.size }
    live -= pushes.count
  }

  /// The next push to go while the bound is passed. Entries whose push is gone already are skipped by the caller.
  mutating func next(limit: Int) -> (device: Int, sequence: Int)? {
    guard bytes > limit, head < order.count else { return nil }
    defer { advance() }
    return (order[head].device, order[head].sequence)
  }

  /// Drops entries whose push is gone, once they are most of the list.
  mutating func sweep(isLive: (_ device: Int, _ sequence: Int) -> Bool) {
    guard order.count - head > 4 * live + 1024 else { return }
    order = order[head...].filter { isLive($0.device, $0.sequence) }
    head = 0
  }

  mutating func removeAll() {
    order = []
    head = 0
    bytes = 0
    live = 0
    dropped = 0
  }

  private mutating func advance() {
    head += 1
    if head > 4096, head * 2 > order.count {
      order.removeFirst(head)
      head = 0
    }
  }
}
