/// Bounds of the transport. Each says what would break without it.
package enum TransportLimits {
  /// Requests in flight over all connections: APNs has been seen to allow 1000 on one connection, and more in flight
  /// than that only moves the queue to the other side.
  package static let concurrency = 1000

  /// Pushes inside one transport for each request that may be in flight: half a kilobyte each with what the caller
  /// holds for them. Enough that the line never runs dry between two of the caller's batches.
  package static let queuedForEachRequest = 8

  /// Pushes moved through the mailbox as one batch; longer ones are split, so that one caller cannot block the others
  /// for long.
  package static let batchPushes = 4096

  /// Single pushes gathered into one batch: enough that what a batch costs does not count for each of them, few enough
  /// that one which waits for a repeat does not keep much memory of the others, which ended long ago.
  package static let gatheredPushes = 64

  /// Heads with a header template of their own; beyond it all are made anew.
  package static let templates = 64

  /// A connection without a push is kept so long: beyond it the state that both ends and every middlebox hold for it is
  /// for nothing, and a dial costs less than a second.
  package static let idle = Duration.seconds(3600)

  /// How long requests in flight may finish after a stop was asked for.
  package static let graceOnCancel = Duration.seconds(5)
}
