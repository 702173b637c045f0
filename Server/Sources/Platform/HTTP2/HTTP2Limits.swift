/// Bounds of a session. Each says what would break without it.
package enum HTTP2Limits {
  /// Requests open at once on one connection, whatever the peer allows: bounds the slots.
  package static let concurrentStreams = 2000

  /// A response body kept by a client. APNs answers are below 200 bytes; more is a mistake on the other side.
  package static let responseBodyBytes = 64 * 1024

  /// A header section kept by either side; also announced as SETTINGS_MAX_HEADER_LIST_SIZE.
  package static let headerListBytes = 16 * 1024

  /// A request body kept by a server unless it says otherwise.
  package static let requestBodyBytes = 64 * 1024

  /// Our receive window of a connection, so that a peer never waits for our WINDOW_UPDATE.
  package static let connectionWindowBytes = 16 * 1024 * 1024

  /// Our receive window of a stream.
  package static let streamWindowBytes = 1024 * 1024

  /// One gathered write: large enough to amortise a system call, small enough to stay in the second-level cache.
  package static let gatherBytes = 64 * 1024

  /// RST_STREAM, PING and SETTINGS frames that a peer may send in a burst, and per second in the long run.
  package static let floodBurst = 1000
  package static let floodPerSecond = 50

  /// From the first byte of a request's header section to its end: a push is below 8 KiB, and a client that trickles
  /// it holds a stream of ours.
  package static let requestTime = Duration.seconds(30)

  /// For an answer to be taken: a client that gives no window, or does not read, makes us keep what it asked for.
  package static let answerTime = Duration.seconds(60)

  /// How often streams that stand open are looked at; the two times above are kept to within this.
  package static let lookInterval = Duration.seconds(5)

  /// For our last bytes to leave after a connection has ended in order.
  package static let partingTime = Duration.seconds(5)
}
