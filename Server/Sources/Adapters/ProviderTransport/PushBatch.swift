internal import APNs
internal import PabalPrimitives

/// Pushes of one caller on their way into the loop.
///
/// Laid out for the loop: what goes on the wire lies in one array, everything else in plain entries, so that a push
/// costs no allocation and no reference count of its own between here and its outcome. A payload that follows its
/// equal, as in every broadcast, is there once.
package struct PushBatch: Sendable {
  package let id: UInt64
  package let sink: any OutcomeSink
  let entries: [Entry]
  /// For each entry its path and `apns-id`; the bodies.
  let bytes: [UInt8]
  /// Each followed by pushes that share it.
  let heads: [APNsHead]

  struct Entry: Sendable {
    var tag: UInt64
    var apnsID: APNsID
    /// In milliseconds; `.max`: never.
    var expiresAt: Int64
    var pathStart: Int
    var bodyStart: Int
    var pathCount: Int32
    var bodyCount: Int32
    var head: Int32
    var attemptLimit: Int32
    var repeatsUnknown: Bool

    var expiry: WallTime? { expiresAt == .max ? nil : WallTime(milliseconds: expiresAt) }
    var path: Range<Int> { pathStart..<pathStart + Int(pathCount) }
    var unique: Range<Int> { path.upperBound..<path.upperBound + APNsID.textBytes }
    var body: Range<Int> { bodyStart..<bodyStart + Int(bodyCount) }
  }

  package init(id: UInt64, pushes: [APNsPush], sink: any OutcomeSink) {
    self.init(id: id, pushes: pushes[...], sink: sink)
  }

  init(id: UInt64, pushes: ArraySlice<APNsPush>, sink: any OutcomeSink) {
    self.id = id
    self.sink = sink
    var entries: [Entry] = []
    entries.reserveCapacity(pushes.count)
    var heads: [APNsHead] = []
    bytes = [UInt8](unsafeUninitializedCapacity: Self.bytesNeeded(for: pushes)) { memory, end in
      let text = UnsafeMutableRawBufferPointer(memory)
      for index in pushes.indices {
        let isNewBody = index == pushes.startIndex || pushes[index].request.payload != pushes[index - 1].request.payload
        let bodyStart = isNewBody ? end : entries[entries.count - 1].bodyStart
        if isNewBody { end = Self.write(pushes[index].request.payload.bytes, to: text, at: end) }
        let pathStart = end
        end = pushes[index].request.writePath(to: text, at: end)
        let pathCount = end - pathStart
        end = pushes[index].apnsID.write(to: text, at: end)
        if heads.last != pushes[index].request.head { heads.append(pushes[index].request.head) }
        entries.append(
          Entry(
            tag: pushes[index].tag, apnsID: pushes[index].apnsID,
            expiresAt: pushes[index].expiresAt?.milliseconds ?? .max, pathStart: pathStart, bodyStart: bodyStart,
            pathCount: Int32(pathCount), bodyCount: Int32(pushes[index].request.payload.bytes.count),
            head: Int32(heads.count - 1), attemptLimit: Int32(clamping: pushes[index].attemptLimit),
            repeatsUnknown: pushes[index].repeatsUnknown))
      }
    }
    self.entries = entries
    self.heads = heads
  }

  private static func bytesNeeded(for pushes: ArraySlice<APNsPush>) -> Int {
    var bytes = 0
    for index in pushes.indices {
      bytes += pushes[index].request.pathCount + APNsID.textBytes
      if index == pushes.startIndex || pushes[index].request.payload != pushes[index - 1].request.payload {
        bytes += pushes[index].request.payload.bytes.count
      }
    }
    return bytes
  }

  private static func write(_ body: [UInt8], to text: UnsafeMutableRawBufferPointer, at start: Int) -> Int {
    let end = start + body.count
    UnsafeMutableRawBufferPointer(rebasing: text[start..<end]).copyBytes(from: body)
    return end
  }
}

/// A batch inside the core: what it consists of, what is still open, and what has not been delivered yet.
final class BatchState {
  let content: PushBatch
  private(set) var open: Int
  private var ready: [APNsOutcome] = []
  private var isDirty = false

  init(_ content: PushBatch) {
    self.content = content
    open = content.entries.count
    if !content.sink.wantsChunks { ready.reserveCapacity(open) }
  }

  /// - Returns: whether this is the first outcome since the last delivery.
  func record(_ outcome: APNsOutcome) -> Bool {
    ready.append(outcome)
    open -= 1
    defer { isDirty = true }
    return !isDirty
  }

  /// Hands over what is ready, unless the sink wants all at once and some are open.
  func deliver() {
    isDirty = false
    guard open == 0 || content.sink.wantsChunks else { return }
    let outcomes = ready
    ready = []
    content.sink.deliver(outcomes)
  }
}
