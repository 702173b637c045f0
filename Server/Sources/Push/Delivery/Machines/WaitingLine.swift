/// Pushes that wait for a permit: first come, first served, and what comes back unsent goes to the front.
struct WaitingLine: Sendable {
  private var returned: [PushTag] = []
  private var line: [PushTag] = []
  private var head = 0

  var count: Int { returned.count + line.count - head }
  var first: PushTag? { returned.last ?? (head < line.count ? line[head] : nil) }

  mutating func append(_ tag: PushTag) {
    line.append(tag)
  }

  mutating func putBack(_ tags: [PushTag]) {
    returned.append(contentsOf: tags.reversed())
  }

  mutating func removeFirst() {
    if returned.popLast() != nil { return }
    precondition(head < line.count, "the line is empty")
    head += 1
    // Half of the storage is dead: moving the living half costs each push one move at most.
    if head >= 1024, head * 2 >= line.count {
      line.removeFirst(head)
      head = 0
    }
  }
}
