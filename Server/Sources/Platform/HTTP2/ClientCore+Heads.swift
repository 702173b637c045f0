internal import CNghttp2

/// The header sections of requests, put in the place of those that nghttp2 would send.
///
/// nghttp2 frames, orders and counts the requests but takes no finished header section, so it is given one of a single
/// field, and its HEADERS frame goes out with our section in it. Nothing that its encoder makes reaches the peer: the
/// peer's table is what `HeaderEncoder` says it is.
extension ClientCore {
  private static let frameHead = 9
  /// Every peer takes frames of so many bytes (RFC 9113 section 4.2).
  private static let frameBytes = 16_384

  /// - Parameters:
  ///   - frame: what nghttp2 made of the request.
  ///   - send: takes what was gathered, when the buffer is full.
  static func gatherHead(
    _ core: UnsafeMutablePointer<ClientCore>, of slot: RequestSlotPointer, instead frame: UnsafeBufferPointer<UInt8>,
    _ send: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try check(frame)
    core.pointee.encoder.prepare(core.pointee.templates[slot.pointee.template])
    core.pointee.templates.giveBack(slot.pointee.template)
    let path = PrefixedInteger(Int(slot.pointee.pathCount), bits: 7)
    let unique = PrefixedInteger(Int(slot.pointee.uniqueCount), bits: 7)
    let count =
      core.pointee.encoder.opening.count + path.count + Int(slot.pointee.pathCount) + core.pointee.encoder.rest.count
      + unique.count + Int(slot.pointee.uniqueCount)
    guard count <= frameBytes else {
      let section = [UInt8](unsafeUninitializedCapacity: count) { section, end in
        if let start = section.baseAddress { core.pointee.writeSection(of: slot, path, unique, to: start) }
        end = count
      }
      return try gatherInFrames(core, section, like: frame, send)
    }
    if !core.pointee.gather.fits(frameHead + count) { try send(core.pointee.gather.handOut()) }
    let start = core.pointee.gather.extend(frameHead + count)
    writeFrameHead(like: frame, length: count, type: frame[3], flags: frame[4], to: start)
    core.pointee.writeSection(of: slot, path, unique, to: start + frameHead)
  }

  /// A whole HEADERS frame and nothing else is what nghttp2 gives at once, and what can be replaced.
  private static func check(_ frame: UnsafeBufferPointer<UInt8>) throws(HTTP2SessionError) {
    let isWhole =
      frame.count > frameHead && frame[0] == 0 && frame[1] == 0 && Int(frame[2]) == frame.count - frameHead
    let flags = isWhole ? UInt32(frame[4]) : 0
    let known = NGHTTP2_FLAG_END_HEADERS.rawValue | NGHTTP2_FLAG_END_STREAM.rawValue
    guard
      isWhole, UInt32(frame[3]) == NGHTTP2_HEADERS.rawValue, flags & NGHTTP2_FLAG_END_HEADERS.rawValue != 0,
      flags & ~known == 0
    else {
      throw HTTP2SessionError(
        .internalError,
        message: "This version of libnghttp2 gives header frames in another way than Pabal knows. Use another one.")
    }
  }

  private func writeSection(
    of slot: RequestSlotPointer, _ path: PrefixedInteger, _ unique: PrefixedInteger,
    to start: UnsafeMutablePointer<UInt8>
  ) {
    slot.pointee.source.pointee.withUnsafeBufferPointer { source in
      var end = Self.copy(encoder.opening, to: start)
      end = path.write(to: end)
      end = Self.copy(source, slot.pointee.pathStart, Int(slot.pointee.pathCount), to: end)
      end = Self.copy(encoder.rest, to: end)
      end = unique.write(to: end)
      _ = Self.copy(source, slot.pointee.uniqueStart, Int(slot.pointee.uniqueCount), to: end)
    }
  }

  private static func copy(
    _ bytes: [UInt8], to start: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    bytes.withUnsafeBufferPointer { copy($0, 0, $0.count, to: start) }
  }

  private static func copy(
    _ source: UnsafeBufferPointer<UInt8>, _ from: Int, _ count: Int, to start: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    precondition(from >= 0 && count >= 0 && from + count <= source.count, "a request lies within its bytes")
    if let base = source.baseAddress { UnsafeMutableRawPointer(start).copyMemory(from: base + from, byteCount: count) }
    return start + count
  }

  /// HEADERS and as many CONTINUATION frames as it takes.
  private static func gatherInFrames(
    _ core: UnsafeMutablePointer<ClientCore>, _ section: [UInt8], like frame: UnsafeBufferPointer<UInt8>,
    _ send: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let ends = UInt8(truncatingIfNeeded: NGHTTP2_FLAG_END_HEADERS.rawValue)
    var next = 0
    while next < section.count {
      let count = min(frameBytes, section.count - next)
      if !core.pointee.gather.fits(frameHead + count) { try send(core.pointee.gather.handOut()) }
      let start = core.pointee.gather.extend(frameHead + count)
      let isFirst = next == 0
      let isLast = next + count == section.count
      let type = isFirst ? frame[3] : UInt8(truncatingIfNeeded: NGHTTP2_CONTINUATION.rawValue)
      let flags = (isFirst ? frame[4] & ~ends : 0) | (isLast ? ends : 0)
      writeFrameHead(like: frame, length: count, type: type, flags: flags, to: start)
      section.withUnsafeBufferPointer { _ = copy($0, next, count, to: start + frameHead) }
      next += count
    }
  }

  /// On the same stream.
  private static func writeFrameHead(
    like frame: UnsafeBufferPointer<UInt8>, length: Int, type: UInt8, flags: UInt8,
    to start: UnsafeMutablePointer<UInt8>
  ) {
    start[0] = UInt8(truncatingIfNeeded: length >> 16)
    start[1] = UInt8(truncatingIfNeeded: length >> 8)
    start[2] = UInt8(truncatingIfNeeded: length)
    start[3] = type
    start[4] = flags
    for index in 5..<9 { start[index] = frame[index] }
  }
}

// MARK: - Answers without news

extension ClientCore {
  /// Takes a final head that is all of a plain response; false, with nothing done, for any other.
  mutating func takePlainHead(_ slot: RequestSlotPointer, endStream: Bool) -> Bool {
    guard endStream, slot.pointee.status == 0, scratch.status == plainStatus, scratch.fields == 0, plainStatus >= 200
    else { return false }
    slot.pointee.status = plainStatus
    settlePlain(slot)
    return true
  }

  /// Takes the end of a plain response whose head has come; false, with nothing done, for any other.
  mutating func takePlainEnd(_ slot: RequestSlotPointer) -> Bool {
    guard partial.isEmpty, slot.pointee.status == plainStatus, plainStatus >= 200 else { return false }
    settlePlain(slot)
    return true
  }

  private mutating func settlePlain(_ slot: RequestSlotPointer) {
    guard !slot.pointee.isSettled else { return }
    slot.pointee.isSettled = true
    plain.append(slot.pointee.tag)
  }
}
