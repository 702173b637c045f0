/// Bounds on what the stand-in reads and keeps.
package enum StandInLimits {
  /// A body beyond this is cut by the HTTP/2 layer and answered 413: the largest legal payload and some room to count.
  package static let bodyBytes = 16 * 1024
  /// Depth of JSON in a payload; deeper nesting has no use in a notification and would cost stack.
  package static let payloadDepth = 32
  /// Apple: 64 bytes.
  package static let collapseIdBytes = 64
  /// Longest `apns-topic`: a bundle id has at most 155 characters, the longest suffix 24.
  package static let topicBytes = 255
  /// Longest provider token read: team tokens have about 200 characters.
  package static let providerTokenBytes = 4096
  /// Pushes kept for one device.
  package static let inboxPerDevice = 100
  /// Bytes of payload and headers kept in all inboxes together; the oldest go first.
  package static let inboxBytes = 128 << 20
  /// Requests kept in the wire log.
  package static let wireLogRequests = 10_000
  /// Bytes of header text kept in the wire log.
  package static let wireLogBytes = 32 << 20
  /// Provider tokens whose verification is remembered.
  package static let verifiedTokens = 1024
  /// Devices of one stand-in; about 400 MB when all are in use.
  package static let devices = 1_000_000
  /// Devices that one POST may mint.
  package static let devicesPerRequest = 100_000
  /// Bytes of one device token; Apple promises no length.
  package static let deviceTokenBytes = 1024
  /// Characters of an adopted device id.
  package static let deviceIdBytes = 64
  /// Rules of one PUT of faults.
  package static let faultRules = 1000
  /// Longest `delayMs` and `silenceMs`: ten minutes.
  package static let faultDelayMs = 600_000
  /// Largest `bytesPerSecond` of a slow read: beyond it the pieces would be larger than one read of the socket.
  package static let slowReadRate = 100_000
  /// Longest time that a setting may name: forty days.
  package static let settingMs = 40 * 86_400_000
  /// Longest scenario file: a thousand rules and room.
  package static let scenarioBytes = 4 << 20
  /// Longest `delayMs` of a media file: two minutes.
  package static let mediaDelayMs = 120_000
  /// Items of one page of a list.
  package static let pageSize = 1000
  /// Days that APNs keeps a push for an offline device.
  package static let storageDays: Int64 = 30
  /// Last second of the year 9999: a larger `apns-expiration` is a date in milliseconds.
  package static let expirationSeconds: Int64 = 253_402_300_799
}
