/// Which address of a name is dialled when (RFC 8305, "Happy Eyeballs", section 5).
///
/// One dial is started every 250 ms while none has answered, at once when one has failed; the first that is up wins
/// and the others are dropped. So a family that leads nowhere costs a quarter of a second instead of minutes.
package struct AddressRaceMachine: Sendable {
  /// RFC 8305 section 8 recommends 250 ms between two dials.
  package static let stagger = Duration.milliseconds(250)

  package enum Family: Sendable, Equatable {
    case ipv4
    case ipv6
  }

  package enum Event: Equatable, Sendable {
    case start
    /// The dial of this address came to nothing.
    case failed(Int)
    case connected(Int)
    /// The timer of `armStagger` fired.
    case staggerElapsed
  }

  package enum Action: Equatable, Sendable {
    case dial(Int)
    /// Deliver `staggerElapsed` after `stagger`; a timer armed before does not count any more.
    case armStagger
    case disarmStagger
    /// This one is up: drop the others.
    case win(Int)
    /// Every address has failed.
    case lose
  }

  private let count: Int
  private var next = 0
  private var underWay: Set<Int> = []
  private var isOver = false

  /// - Parameter count: addresses, in the order of `order`.
  package init(count: Int) {
    self.count = count
  }

  /// Positions of a resolver's answer in the order to dial: the resolver's own order (RFC 6724), but the families take
  /// turns, so that the second dial tries the other one (RFC 8305 section 4).
  package static func order(_ families: [Family]) -> [Int] {
    guard let first = families.first else { return [] }
    var same = families.indices.filter { families[$0] == first }[...]
    var other = families.indices.filter { families[$0] != first }[...]
    var order: [Int] = []
    while !same.isEmpty || !other.isEmpty {
      if let position = same.popFirst() { order.append(position) }
      if let position = other.popFirst() { order.append(position) }
    }
    return order
  }

  package mutating func handle(_ event: Event) -> [Action] {
    guard !isOver else { return [] }
    switch event {
    case .start, .staggerElapsed:
      return dialNext()
    case .failed(let address):
      guard underWay.remove(address) != nil else { return [] }
      if next < count { return dialNext() }
      guard underWay.isEmpty else { return [] }
      isOver = true
      return [.disarmStagger, .lose]
    case .connected(let address):
      guard underWay.contains(address) else { return [] }
      isOver = true
      return [.disarmStagger, .win(address)]
    }
  }

  private mutating func dialNext() -> [Action] {
    guard next < count else {
      guard count == 0 else { return [] }
      isOver = true
      return [.lose]
    }
    let address = next
    next += 1
    underWay.insert(address)
    return next < count ? [.armStagger, .dial(address)] : [.disarmStagger, .dial(address)]
  }
}
