package import HTTP2

/// A client's connection as its server sees it. On its loop's thread only.
///
/// Calls outside a handler's call need a `flush` after them.
package final class HTTP2ServerConnection {
  /// Counts up from 1 for each listener.
  package let id: UInt64

  init(id: UInt64) { self.id = id }

  /// Answers a stream; nothing happens when it is closed already. `endStream: false` leaves the stream half answered
  /// for ever (a fault to be played). An answer before the whole request is in is followed by RST_STREAM(NO_ERROR)
  /// (RFC 9113 §8.1).
  package func respond(
    stream: Int32, status: Int, headers: [(String, String)], body: [UInt8], endStream: Bool = true
  ) { fatalError("not landed yet") }

  /// An interim response (1xx).
  package func inform(stream: Int32, status: Int, headers: [(String, String)]) { fatalError("not landed yet") }

  package func reset(stream: Int32, code: HTTP2ErrorCode) { fatalError("not landed yet") }

  /// nil: the last stream received. Streams above `lastStreamID` are dropped on our side too. The connection stays
  /// open until `close` or `abort`.
  package func goaway(lastStreamID: Int32?, code: HTTP2ErrorCode, debug: [UInt8]) { fatalError("not landed yet") }

  package func setMaxConcurrentStreams(_ count: Int) { fatalError("not landed yet") }

  package func ping() { fatalError("not landed yet") }

  /// One write for everything said since the last.
  package func flush() { fatalError("not landed yet") }

  /// GOAWAY, then closes when the open streams have ended.
  package func close() { fatalError("not landed yet") }

  /// Resets TCP at once.
  package func abort() { fatalError("not landed yet") }

  package func pauseReading() { fatalError("not landed yet") }
  package func resumeReading() { fatalError("not landed yet") }

  package var openStreams: Int { fatalError("not landed yet") }
}
