package import HTTP2

/// What happens on a client connection, in order, on its loop's thread.
///
/// A handler may call `submit`, `cancel`, `ping`, `close` and `abort` from inside an event; what it submits goes out in
/// one write when the event that the bytes caused has been handled. Each submitted tag ends in exactly one of
/// `response`, `plainResponses`, `reset`, `unprocessed` and `closed`, unless it was cancelled.
package enum HTTP2ClientEvent {
  /// The peer's first SETTINGS are in: requests may be submitted. The number is already capped by the configuration.
  case ready(maxConcurrentStreams: Int)

  /// The peer changed its limit. 0 means pause.
  case maxConcurrentStreams(Int)

  /// The kernel has taken a byte of the TLS record that holds the first byte of these requests' HEADERS. From here on a
  /// request without an answer is ambiguous. In order of submission.
  case written(tags: [UInt64])

  /// A final response. Also a status followed by RST_STREAM(NO_ERROR): the peer answered before the body was in.
  case response(tag: UInt64, HTTP2Response)

  /// Final responses of the configuration's `plainStatus` without kept headers and without a body, in order.
  case plainResponses(tags: [UInt64])

  /// The stream was reset. `hadStatus`: the final status, had one arrived.
  case reset(tag: UInt64, code: HTTP2ErrorCode, hadStatus: Int?)

  /// The peer says that it did not look at these: above the last stream id of its GOAWAY, or REFUSED_STREAM
  /// (RFC 9113 §8.7). Safe to repeat.
  case unprocessed(tags: [UInt64])

  /// The peer will take no new streams; `canSubmit` is false from now on and the connection closes when the open ones
  /// have ended. May come more than once, with a falling `lastStreamID`.
  case goaway(lastStreamID: Int32, code: HTTP2ErrorCode, debug: [UInt8])

  /// All stream ids are used; as after a GOAWAY, with nothing lost.
  case streamIDsExhausted

  case pong

  /// `canSubmit` said no because of the connection's window, and the peer has opened it.
  case windowOpened

  /// The last event. `lost`: written, no reply. `unsent`: not one byte of them was taken by the kernel.
  case closed(HTTP2ConnectionError, lost: [UInt64], unsent: [UInt64])
}
