/// The newest `capacity` elements, oldest first; what falls out is counted.
public struct RingBuffer<Element>: RandomAccessCollection {
  private var storage: [Element] = []
  private var head = 0
  public let capacity: Int
  public private(set) var droppedCount: UInt64 = 0

  public init(capacity: Int) {
    precondition(capacity > 0, "a ring needs room for one element")
    self.capacity = capacity
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { storage.count }

  public subscript(position: Int) -> Element {
    precondition(position >= 0 && position < storage.count, "index out of range")
    return storage[(head + position) % storage.count]
  }

  /// Returns the element that had to go.
  @discardableResult
  public mutating func append(_ element: Element) -> Element? {
    guard storage.count == capacity else {
      storage.append(element)
      return nil
    }
    let oldest = storage[head]
    storage[head] = element
    head = (head + 1) % capacity
    droppedCount += 1
    return oldest
  }

  /// Forgets the elements and keeps the count of what was dropped.
  public mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension RingBuffer: Sendable where Element: Sendable {}
