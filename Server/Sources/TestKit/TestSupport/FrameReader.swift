/// Cuts one direction of a plaintext HTTP/2 connection into frames (RFC 9113 section 4.1), to see what really was on
/// the wire. Knows no HPACK.
package struct FrameReader {
  package struct Frame: Equatable {
    package let type: UInt8
    package let flags: UInt8
    package let stream: Int32
    package let payload: [UInt8]

    package var isData: Bool { type == 0 }
    package var isHeaders: Bool { type == 1 }
    package var isReset: Bool { type == 3 }
    package var isGoaway: Bool { type == 7 }
    package var endsStream: Bool { flags & 1 != 0 }

    /// Of a GOAWAY.
    package var lastStreamID: Int32? {
      guard isGoaway, payload.count >= 8 else { return nil }
      return Int32(payload[0] & 0x7F) << 24 | Int32(payload[1]) << 16 | Int32(payload[2]) << 8 | Int32(payload[3])
    }
  }

  private var buffer: [UInt8] = []
  private var start = 0
  private var prefaceLeft: Int

  /// - Parameter fromClient: the direction begins with the client's preface, 24 bytes.
  package init(fromClient: Bool) {
    prefaceLeft = fromClient ? 24 : 0
  }

  package mutating func read(_ bytes: some Collection<UInt8>) -> [Frame] {
    buffer += bytes
    let skipped = min(prefaceLeft, buffer.count - start)
    start += skipped
    prefaceLeft -= skipped
    var frames: [Frame] = []
    while prefaceLeft == 0, buffer.count - start >= 9 {
      let length = Int(buffer[start]) << 16 | Int(buffer[start + 1]) << 8 | Int(buffer[start + 2])
      guard buffer.count - start >= 9 + length else { break }
      let stream = buffer[start + 5..<start + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
      frames.append(
        Frame(
          type: buffer[start + 3], flags: buffer[start + 4], stream: Int32(stream),
          payload: Array(buffer[start + 9..<start + 9 + length])))
      start += 9 + length
    }
    if start > 64 * 1024 {
      buffer.removeFirst(start)
      start = 0
    }
    return frames
  }
}
