/// The latest value, and a stream of changes for everybody who asks.
@MainActor final class Broadcast<Value: Sendable & Equatable> {
  private(set) var value: Value?
  private var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
  private var last = 0

  deinit {
    for listener in listeners.values { listener.finish() }
  }

  func send(_ new: Value) {
    guard new != value else { return }
    value = new
    for listener in listeners.values { listener.yield(new) }
  }

  /// Begins with the value there is. A listener that is slow misses old values, never the latest.
  func stream() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(16))
    last += 1
    let number = last
    listeners[number] = continuation
    if let value { continuation.yield(value) }
    return stream
  }
}
