internal import Delivery
internal import PabalPrimitives

/// A batch inside the core: what it consists of, what is still open, and what has not been delivered yet.
final class BatchState {
  let id: UInt64
  let content: PushBatch
  /// What the ledger calls its pushes, in their order.
  let tags: [PushTag]
  private let sink: any OutcomeSink
  private let wantsChunks: Bool
  private(set) var open: Int
  private var ready: [APNsOutcome] = []
  private var isDirty = false

  init(_ content: PushBatch, id: UInt64, tags: [PushTag], sink: any OutcomeSink) {
    self.content = content
    self.tags = tags
    self.id = id
    self.sink = sink
    wantsChunks = sink.wantsChunks
    open = content.count
    if !wantsChunks { ready.reserveCapacity(open) }
  }

  /// Some outcomes of this batch, which `fill` appends.
  ///
  /// - Returns: whether they are the first since the last delivery.
  func record(_ fill: (_ entries: [PushBatch.Entry], _ ready: inout [APNsOutcome]) -> Void) -> Bool {
    let before = ready.count
    fill(content.entries, &ready)
    open -= ready.count - before
    defer { isDirty = true }
    return !isDirty
  }

  /// Hands over what is ready, unless the sink wants all at once and some are open.
  func deliver() {
    isDirty = false
    guard open == 0 || wantsChunks else { return }
    var outcomes: [APNsOutcome] = []
    swap(&outcomes, &ready)
    sink.deliver(outcomes)
  }
}
