internal import CNghttp2

/// The one function that turns an nghttp2 status into our error.
func sessionError(_ status: Int, file: String = #fileID, line: Int = #line) -> HTTP2SessionError {
  let code: HTTP2ErrorCode
  switch Int32(truncatingIfNeeded: status) {
  case NGHTTP2_ERR_FLOODED.rawValue, NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue,
    NGHTTP2_ERR_TOO_MANY_SETTINGS.rawValue:
    code = .enhanceYourCalm
  case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: code = .protocolError
  case NGHTTP2_ERR_HEADER_COMP.rawValue: code = .compressionError
  case NGHTTP2_ERR_FLOW_CONTROL.rawValue: code = .flowControlError
  case NGHTTP2_ERR_NOMEM.rawValue: code = .internalError
  default: code = .protocolError
  }
  let reason = String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: status)))
  return HTTP2SessionError(
    code, message: "The peer does not keep to HTTP/2: \(reason). Check what listens on that port.", file: file,
    line: line)
}

extension nghttp2_settings_entry {
  init(_ id: nghttp2_settings_id, _ value: Int) {
    self.init(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
  }
}

/// The bytes that nghttp2 wants to send, gathered into pieces of one write each.
struct GatherBuffer {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0
  /// Bytes handed out, ever.
  private(set) var totalHandedOut: UInt64 = 0

  init() {
    memory = .allocate(byteCount: HTTP2Limits.gatherBytes, alignment: 16)
  }

  func deallocate() { memory.deallocate() }

  /// Of the next byte.
  var offset: UInt64 { totalHandedOut + UInt64(count) }

  func fits(_ bytes: Int) -> Bool { count + bytes <= memory.count }

  /// `bytes` fit.
  mutating func append(_ bytes: UnsafePointer<UInt8>, _ length: Int) {
    memory.baseAddress.map { ($0 + count).copyMemory(from: bytes, byteCount: length) }
    count += length
  }

  /// Memory for `length` bytes, which fit and which the caller writes.
  mutating func extend(_ length: Int) -> UnsafeMutablePointer<UInt8> {
    defer { count += length }
    guard let base = memory.baseAddress else { preconditionFailure("the buffer has memory") }
    return (base + count).assumingMemoryBound(to: UInt8.self)
  }

  mutating func handOut() -> UnsafeRawBufferPointer {
    defer {
      totalHandedOut += UInt64(count)
      count = 0
    }
    return UnsafeRawBufferPointer(rebasing: memory[..<count])
  }
}

/// A header section while it arrives, in the layout of `HTTP2HeaderBlock`.
struct HeaderScratch {
  private let memory: UnsafeMutableBufferPointer<UInt8>
  private var used = 0
  private(set) var fields = 0
  private(set) var overflowed = false
  /// Of `:status`, 0 without it.
  var status: Int32 = 0

  init() {
    memory = .allocate(capacity: HTTP2Limits.headerListBytes)
  }

  func deallocate() { memory.deallocate() }

  mutating func reset() {
    used = 0
    fields = 0
    overflowed = false
    status = 0
  }

  mutating func append(
    _ name: UnsafePointer<UInt8>, _ nameLength: Int, _ value: UnsafePointer<UInt8>, _ valueLength: Int
  ) {
    let size = 4 + nameLength + valueLength
    guard !overflowed, used + size <= memory.count, let base = memory.baseAddress else {
      overflowed = true
      return
    }
    let entry = base + used
    entry[0] = UInt8(truncatingIfNeeded: nameLength)
    entry[1] = UInt8(truncatingIfNeeded: nameLength >> 8)
    entry[2] = UInt8(truncatingIfNeeded: valueLength)
    entry[3] = UInt8(truncatingIfNeeded: valueLength >> 8)
    UnsafeMutableRawPointer(entry + 4).copyMemory(from: name, byteCount: nameLength)
    UnsafeMutableRawPointer(entry + 4 + nameLength).copyMemory(from: value, byteCount: valueLength)
    used += size
    fields += 1
  }

  /// One allocation, none when there are no fields.
  func block() -> HTTP2HeaderBlock {
    guard fields > 0 else { return HTTP2HeaderBlock() }
    return HTTP2HeaderBlock(storage: Array(UnsafeBufferPointer(rebasing: memory[..<used])), count: fields)
  }
}
