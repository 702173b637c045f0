import Testing

/// One row of the table: what a client does wrong, or oddly but rightly, and what the stand-in has to do.
struct RFC9113Row: Sendable, CustomTestStringConvertible {
  enum Result: Sendable, Equatable {
    /// The stream is answered with a status, and the connection goes on.
    case answered(Int)
    /// RST_STREAM with one of these codes, and the connection goes on.
    case streamError([UInt32])
    /// GOAWAY with one of these codes, and the connection is closed.
    case connectionError([UInt32])
    /// Nothing is said of it, and the connection goes on.
    case ignored
  }

  /// What decides: our own options, call-backs and limits, or the library alone.
  enum Decider: Sendable { case ours, nghttp2 }

  let section: String
  let what: String
  let decider: Decider
  let result: Result
  /// Frames after preface and SETTINGS; stream 1 is the one that counts unless told otherwise.
  let frames: @Sendable (WireRig) -> [UInt8]
  var stream: UInt32 = 1

  init(
    _ section: String, _ what: String, by decider: Decider = .nghttp2, _ result: Result, stream: UInt32 = 1,
    _ frames: @escaping @Sendable (WireRig) -> [RawFrame]
  ) {
    self.init(section, what, by: decider, result, stream: stream, bytes: { frames($0).flatMap(\.bytes) })
  }

  init(
    _ section: String, _ what: String, by decider: Decider = .nghttp2, _ result: Result, stream: UInt32 = 1,
    bytes: @escaping @Sendable (WireRig) -> [UInt8]
  ) {
    self.section = section
    self.what = what
    self.decider = decider
    self.result = result
    self.stream = stream
    frames = bytes
  }

  var testDescription: String { "RFC 9113 \(section): \(what)" }

  static let noError: UInt32 = 0
  static let protocolError: UInt32 = 1
  static let flowControl: UInt32 = 3
  static let streamClosed: UInt32 = 5
  static let frameSize: UInt32 = 6
  static let refused: UInt32 = 7
  static let compression: UInt32 = 9
  static let calm: UInt32 = 11
}
