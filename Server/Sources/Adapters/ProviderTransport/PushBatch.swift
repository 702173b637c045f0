/// Pushes of one caller on their way into the loop.
package struct PushBatch: Sendable {
  package let id: UInt64
  package let pushes: [APNsPush]
  package let sink: any OutcomeSink

  package init(id: UInt64, pushes: [APNsPush], sink: any OutcomeSink) {
    self.id = id
    self.pushes = pushes
    self.sink = sink
  }
}

/// A batch inside the core: what is still open, and what has not been delivered yet.
struct BatchState {
  var id: UInt64
  var sink: any OutcomeSink
  var open: Int
  var ready: [APNsOutcome] = []
  var isDirty = false

  /// - Returns: whether this is the first outcome since the last delivery.
  mutating func record(_ outcome: APNsOutcome) -> Bool {
    ready.append(outcome)
    open -= 1
    defer { isDirty = true }
    return !isDirty
  }
}
