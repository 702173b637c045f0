internal import PabalPrimitives

/// Remembers which taps were seen, so that each is handled once however many ways it is reported.
struct InteractionLedger {
  /// More taps than a person makes before the first of them is settled everywhere.
  static let capacity = 256

  private var known: Set<String> = []
  private var order = RingBuffer<String>(capacity: capacity)

  /// False when the interaction was seen before.
  mutating func insert(_ id: String) -> Bool {
    guard known.insert(id).inserted else { return false }
    if let forgotten = order.append(id) { known.remove(forgotten) }
    return true
  }
}
