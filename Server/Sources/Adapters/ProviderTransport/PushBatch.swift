package import APNs
package import PabalModel
internal import PabalPrimitives

/// Pushes on their way into the loop, filled by their caller.
///
/// Laid out for the loop: what goes on the wire lies in one array, everything else in plain entries, so that a push
/// costs no allocation and no reference count of its own between here and its outcome. What pushes share, as in every
/// broadcast, is there once.
package struct PushBatch: Sendable {
  private(set) var entries: [Entry] = []
  /// For each entry its path and `apns-id`; the bodies; room at the end.
  private(set) var bytes: [UInt8] = []
  private(set) var heads: [APNsHead] = []
  private var used = 0
  /// Pushes that will probably come.
  private let expected: Int
  private var last: (payload: APNsPayload, content: Content)?

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

  /// Headers and body of pushes of one batch, for `append` to the same batch.
  package struct Content: Sendable {
    fileprivate let head: Int32
    fileprivate let bodyStart: Int
    fileprivate let bodyCount: Int32
  }

  /// - Parameter count: pushes that will probably come; any number may.
  package init(reserving count: Int = 0) {
    expected = count
    entries.reserveCapacity(count)
  }

  package init(_ pushes: [APNsPush]) {
    self.init(reserving: pushes.count)
    for push in pushes { append(push) }
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  /// What a push consists of beside its token, to be shown.
  package func contents(at index: Int) -> (head: APNsHead, body: [UInt8]) {
    (heads[Int(entries[index].head)], Array(bytes[entries[index].body]))
  }

  /// Lays down what pushes share. The same as the last one costs nothing but the comparison.
  package mutating func content(_ head: APNsHead, _ payload: APNsPayload) -> Content {
    let isSameHead = heads.last == head
    if isSameHead, let last, last.payload == payload { return last.content }
    if !isSameHead { heads.append(head) }
    var start = last?.content.bodyStart ?? 0
    if last?.payload != payload {
      start = used
      makeRoom(payload.bytes.count)
      bytes.withUnsafeMutableBytes { text in
        UnsafeMutableRawBufferPointer(rebasing: text[start..<start + payload.bytes.count]).copyBytes(
          from: payload.bytes)
      }
      used += payload.bytes.count
    }
    let content = Content(
      head: Int32(heads.count - 1), bodyStart: start, bodyCount: Int32(clamping: payload.bytes.count))
    last = (payload, content)
    return content
  }

  package mutating func append(
    to token: DeviceToken, _ content: Content, tag: UInt64, apnsID: APNsID, terms: PushTerms
  ) {
    let pathCount = APNsPath.count(to: token)
    makeRoom(pathCount + APNsID.textBytes)
    let start = used
    used = bytes.withUnsafeMutableBytes { text in
      apnsID.write(to: text, at: APNsPath.write(to: token, into: text, at: start))
    }
    entries.append(
      Entry(
        tag: tag, apnsID: apnsID, expiresAt: terms.expiresAt?.milliseconds ?? .max, pathStart: start,
        bodyStart: content.bodyStart, pathCount: Int32(truncatingIfNeeded: pathCount), bodyCount: content.bodyCount,
        head: content.head, attemptLimit: Int32(clamping: terms.attemptLimit), repeatsUnknown: terms.repeatsUnknown))
  }

  package mutating func append(_ push: APNsPush) {
    let content = content(push.request.head, push.request.payload)
    append(to: push.request.token, content, tag: push.tag, apnsID: push.apnsID, terms: push.terms)
  }

  /// The same pushes in batches of at most `limit`, which share what lies in memory.
  func parts(ofAtMost limit: Int) -> [PushBatch] {
    stride(from: 0, to: entries.count, by: limit).map { start in
      var part = self
      part.entries = Array(entries[start..<min(entries.count, start + limit)])
      return part
    }
  }

  private mutating func makeRoom(_ count: Int) {
    guard used + count > bytes.count else { return }
    // A path to a token of 32 bytes and an id, for each push that is still to come.
    let expectedBytes = max(0, expected - entries.count) * (74 + APNsID.textBytes)
    let more = max(used + count + expectedBytes - bytes.count, bytes.count)
    bytes += [UInt8](repeating: 0, count: more)
  }
}
