import PabalPrimitives

/// A frame of RFC 9113 section 4.1, written and read without any library.
struct RawFrame: Equatable {
  enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let promise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goaway: UInt8 = 7
    static let window: UInt8 = 8
    static let continuation: UInt8 = 9
  }

  static let endStream: UInt8 = 0x1
  static let acknowledges: UInt8 = 0x1
  static let endHeaders: UInt8 = 0x4
  static let padded: UInt8 = 0x8
  static let withPriority: UInt8 = 0x20

  var type: UInt8
  var flags: UInt8 = 0
  var stream: UInt32 = 0
  var payload: [UInt8] = []

  var bytes: [UInt8] {
    let length = payload.count
    let size = [length >> 16, length >> 8, length].map { UInt8(truncatingIfNeeded: $0) }
    return size + [type, flags] + Self.number(stream) + payload
  }

  static func number(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  static func number(at offset: Int, of bytes: [UInt8]) -> UInt32 {
    guard offset + 4 <= bytes.count else { return 0 }
    return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Takes a whole frame off the front; `nil` when there is none yet.
  static func take(from bytes: inout [UInt8]) -> RawFrame? {
    guard bytes.count >= 9 else { return nil }
    let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    guard bytes.count >= 9 + length else { return nil }
    let frame = RawFrame(
      type: bytes[3], flags: bytes[4], stream: number(at: 5, of: bytes), payload: Array(bytes[9..<9 + length]))
    bytes.removeFirst(9 + length)
    return frame
  }

  // MARK: The usual ones

  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  static func settings(_ entries: [(id: UInt16, value: UInt32)] = []) -> RawFrame {
    RawFrame(
      type: Kind.settings,
      payload: entries.flatMap { Array(number(UInt32($0.id))[2...]) + number($0.value) })
  }

  static func headers(
    _ stream: UInt32, _ fields: [(String, String)], flags: UInt8 = RawFrame.endHeaders
  ) -> RawFrame {
    RawFrame(type: Kind.headers, flags: flags, stream: stream, payload: block(fields))
  }

  static func data(_ stream: UInt32, _ body: String, flags: UInt8 = RawFrame.endStream) -> RawFrame {
    RawFrame(type: Kind.data, flags: flags, stream: stream, payload: Array(body.utf8))
  }

  static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> RawFrame {
    RawFrame(type: Kind.reset, stream: stream, payload: number(code))
  }

  static func window(_ stream: UInt32, _ step: UInt32) -> RawFrame {
    RawFrame(type: Kind.window, stream: stream, payload: number(step))
  }

  static func ping(_ text: String = "12345678", flags: UInt8 = 0, stream: UInt32 = 0) -> RawFrame {
    RawFrame(type: Kind.ping, flags: flags, stream: stream, payload: Array(text.utf8))
  }

  /// RFC 7541 section 6.2.2: each field literal, without indexing, its name new, no Huffman code.
  static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { [0x00] + text($0.0) + text($0.1) }
  }

  /// RFC 7541 section 5.2.
  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var (length, rest) = ([UInt8(127)], bytes.count - 127)
    while rest >= 128 {
      length.append(UInt8(rest & 0x7F | 0x80))
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }
}
