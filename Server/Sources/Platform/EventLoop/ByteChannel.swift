import PabalPrimitives

/// A TCP stream. On its loop's thread only.
package protocol ByteChannel: AnyObject {
  /// Sends bytes in order. They are given to the kernel at once if nothing waits before them; what it does not take is
  /// copied and follows when it can. No call-back runs inside `write`: read `totalBytesTaken` after it.
  /// Bytes written before the channel is connected wait; bytes written after it closed are dropped.
  func write(_ bytes: UnsafeRawBufferPointer)

  /// Bytes written that the kernel has not taken. The measure for back-pressure.
  var unsentBytes: Int { get }

  /// Bytes of this channel that the kernel has taken, ever. Exact, also after an error: a byte that is not counted
  /// never left this process.
  var totalBytesTaken: UInt64 { get }

  /// Closes once everything written has been taken. Nothing is received from now on. Ends in `channelDidClose(nil)`,
  /// or in an error when the peer goes away first.
  func close()

  /// Closes at once with a TCP reset; unsent bytes are dropped. `channelDidClose(nil)` follows on a later turn.
  func abort()

  func pauseReading()
  func resumeReading()
}

/// What happens on a channel. All calls come on the loop's thread, never from inside a call into the channel.
package protocol ByteChannelHandler: AnyObject {
  /// Dialled channels only.
  func channelDidConnect()

  /// The bytes are valid during the call only.
  func channelDidReceive(_ bytes: UnsafeRawBufferPointer)

  /// Bytes that had to wait have been taken.
  func channelDidFlush(totalBytesTaken: UInt64)

  /// The last call. nil: orderly, by either side.
  func channelDidClose(_ error: ChannelError?)
}

/// A listening socket. On its loop's thread only.
package protocol ByteListener: AnyObject {
  /// The port really bound.
  var port: UInt16 { get }

  /// Accepted channels stay open.
  func close()
}
