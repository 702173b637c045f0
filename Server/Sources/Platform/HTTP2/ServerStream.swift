internal import CNghttp2
import PabalPrimitives

/// One request and its answer on a server session.
final class ServerStream {
  /// What only the client can bring about.
  private enum Waiting {
    case restOfRequest
    case answerTaken
  }

  var request: HTTP2ServerRequest
  var response: [UInt8] = []
  var responseSent = 0
  var hasHead = false
  /// END_STREAM came.
  var isComplete = false
  var isAnswered = false
  var endsAfterResponse = true
  /// What a look has found it waiting for, and when first.
  private var found: (waiting: Waiting, since: Instant)?

  init(id: Int32) {
    request = HTTP2ServerRequest(stream: id, headers: .init())
  }

  private var waiting: Waiting? {
    if isAnswered { return endsAfterResponse ? .answerTaken : nil }
    return isComplete ? nil : .restOfRequest
  }

  /// Whether the client has kept it waiting too long, as far as repeated calls can tell.
  func isOverdue(at now: Instant, requestTime: Duration, answerTime: Duration) -> Bool {
    guard let waiting else {
      found = nil
      return false
    }
    guard let found, found.waiting == waiting else {
      self.found = (waiting, now)
      return false
    }
    return found.since.duration(to: now) >= (waiting == .restOfRequest ? requestTime : answerTime)
  }

  /// nghttp2's read call-back: at most `length` bytes of what is left.
  func read(
    into buffer: UnsafeMutablePointer<UInt8>, _ length: Int, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    let count = min(length, response.count - responseSent)
    if count == 0, !endsAfterResponse { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    response.withUnsafeBytes { bytes in
      guard count > 0, let base = bytes.baseAddress else { return }
      UnsafeMutableRawPointer(buffer).copyMemory(from: base + responseSent, byteCount: count)
    }
    responseSent += count
    if responseSent == response.count, endsAfterResponse { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }
}

/// A response's fields in nghttp2's form; its memory is used again for each.
struct ResponseFields {
  private var bytes: [UInt8] = []
  private var lengths: [(name: Int, value: Int)] = []
  private var fields: [nghttp2_nv] = []

  mutating func with(
    status: Int, headers: [(String, String)], _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void
  ) {
    bytes.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    append(":status", String(status))
    for (name, value) in headers { append(name, value) }
    bytes.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      fields.removeAll(keepingCapacity: true)
      var offset = 0
      for length in lengths {
        fields.append(
          nghttp2_nv(
            name: base + offset, value: base + offset + length.name, namelen: length.name, valuelen: length.value,
            flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
        offset += length.name + length.value
      }
      fields.withUnsafeBufferPointer(body)
    }
  }

  private mutating func append(_ name: String, _ value: String) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: value.utf8)
    lengths.append((name.utf8.count, value.utf8.count))
  }
}
