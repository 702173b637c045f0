#if !os(iOS)
/// Every bound of the simulated phone, with its reason.
enum PhoneLimits {
  /// Apple says "about 30 seconds"; other vendors have measured it.
  /// https://developer.apple.com/documentation/usernotifications/modifying-content-in-newly-delivered-notifications
  static let extensionTime = Duration.seconds(30)
  /// Time to answer a delegate call. Apple names none for `willPresent`; 30 s is what it names for background pushes.
  static let handlerTime = Duration.seconds(30)
  /// Records kept; the oldest go first. A story makes some hundred.
  static let records = 10_000
  /// Inbox ids remembered for de-duplication: ten times what the stand-in sends again on connect.
  static let rememberedInboxIDs = 1_000
  /// Pushes waiting for the phone. The stand-in keeps 100 a device.
  static let waitingPushes = 200
  /// One server-sent event: a VoIP payload of 5,120 bytes in base64 and its names, ten times over.
  static let eventBytes = 64 * 1024
  /// Wait before a broken stream is opened again, doubling up to the maximum.
  static let reconnectDelay = Duration.milliseconds(100)
  static let reconnectDelayMaximum = Duration.seconds(2)
  /// Three heartbeats of 15 s without a byte: the connection is dead.
  static let streamIdleSeconds = 45.0
  static let callSeconds = 10.0
}
#endif
