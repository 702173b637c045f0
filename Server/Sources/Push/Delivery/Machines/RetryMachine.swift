package import PabalPrimitives

/// When a push that may be repeated is repeated, and when it is not worth it any more.
///
/// 429, 500 and 503 are repeated after 1, 5 and 25 seconds, each drawn from zero up to that (full jitter), at most 60.
/// `Retry-After` comes first. A repeat that would start past the push's deadline ends it at once instead of waiting
/// for nothing. What the provider refuses for good never comes here.
package struct RetryMachine: Sendable {
  package struct Schedule: Sendable, Equatable {
    package var steps: [Duration]
    /// No single wait is longer, `Retry-After` included.
    package var maximum: Duration

    package init(steps: [Duration] = [.seconds(1), .seconds(5), .seconds(25)], maximum: Duration = .seconds(60)) {
      precondition(!steps.isEmpty, "a schedule has at least one step")
      self.steps = steps
      self.maximum = maximum
    }
  }

  package enum Event: Equatable, Sendable {
    /// `repeats` were made before; `limit` are allowed.
    case failed(PushTag, repeats: Int, limit: Int, retryAfter: Duration?, deadline: Instant?)
    /// The push ended otherwise.
    case forget(PushTag)
    case wake
  }

  package enum Action: Equatable, Sendable {
    case later(PushTag, at: Instant)
    case giveUp(PushTag)
    case due([PushTag])
  }

  private struct Entry: Comparable {
    let at: Instant
    let order: UInt64
    let tag: PushTag

    static func < (left: Entry, right: Entry) -> Bool {
      left.at == right.at ? left.order < right.order : left.at < right.at
    }
  }

  private let schedule: Schedule
  private var generator: SeededGenerator
  private var heap: [Entry] = []
  private var waiting: Set<PushTag> = []
  private var order: UInt64 = 0

  package init(schedule: Schedule, seed: UInt64) {
    self.schedule = schedule
    generator = SeededGenerator(seed: seed)
  }

  package var nextWake: Instant? { heap.first?.at }
  package var count: Int { waiting.count }

  package mutating func handle(_ event: Event, now: Instant) -> [Action] {
    switch event {
    case .failed(let tag, let repeats, let limit, let retryAfter, let deadline):
      guard repeats < limit else { return [.giveUp(tag)] }
      let at = now.advanced(by: wait(repeats: repeats, retryAfter: retryAfter))
      if let deadline, at >= deadline { return [.giveUp(tag)] }
      waiting.insert(tag)
      push(Entry(at: at, order: order, tag: tag))
      order += 1
      return [.later(tag, at: at)]
    case .forget(let tag):
      waiting.remove(tag)
      dropForgotten()
      return []
    case .wake:
      return takeDue(now: now)
    }
  }

  private mutating func wait(repeats: Int, retryAfter: Duration?) -> Duration {
    if let retryAfter { return min(max(retryAfter, .zero), schedule.maximum) }
    let step = repeats < schedule.steps.count ? schedule.steps[repeats] : schedule.maximum
    return min(step, schedule.maximum) * Double.random(in: 0...1, using: &generator)
  }

  private mutating func takeDue(now: Instant) -> [Action] {
    var due: [PushTag] = []
    while let first = heap.first, first.at <= now {
      popFirst()
      if waiting.remove(first.tag) != nil { due.append(first.tag) }
    }
    return due.isEmpty ? [] : [.due(due)]
  }

  private mutating func dropForgotten() {
    while let first = heap.first, !waiting.contains(first.tag) { popFirst() }
  }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child] < heap[parent] else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func popFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[smallest] {
        smallest = child
      }
      guard smallest != parent else { return }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
