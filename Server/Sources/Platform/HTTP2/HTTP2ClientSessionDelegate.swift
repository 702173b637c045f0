/// What a client session tells. None of these calls comes from inside `drain`.
package protocol HTTP2ClientSessionDelegate: AnyObject {
  /// The peer's SETTINGS came; read `maxConcurrentStreams`.
  func sessionReceivedSettings()
  func sessionReceivedResponse(tag: UInt64, _ response: HTTP2Response)
  /// Responses of the session's `plainStatus` without kept headers and without a body, in order.
  func sessionReceivedPlainResponses(tags: [UInt64])
  func sessionStreamReset(tag: UInt64, code: HTTP2ErrorCode, hadStatus: Int?)
  /// The peer did not process these; at the end of `receive` or `drain`.
  func sessionUnprocessed(tags: [UInt64])
  func sessionReceivedGoaway(lastStreamID: Int32, code: HTTP2ErrorCode, debug: [UInt8])
  func sessionReceivedPong()
  /// After `canSubmit` had refused for lack of window.
  func sessionWindowOpened()
}
