/// What of APNs' behaviour a user may turn; the order of the checks is fixed.
package struct StandInRules: Sendable {
  /// Over what a change of provider token is counted.
  package enum TokenScope: String, Sendable, CaseIterable {
    case key
    case connection
    case team
  }

  /// SETTINGS_MAX_CONCURRENT_STREAMS before a connection has shown a valid provider token.
  package var streamsBeforeToken = 1
  /// The same afterwards.
  package var streamsAfterToken = 1000
  /// The limit after an error answer until the next success; `nil` leaves the limit alone.
  package var streamsAfterError: Int?
  /// Error answers on one connection before it is sent away; 410 does not count. `nil` never sends away.
  package var errorsBeforeDisconnect: Int?
  /// Changes of provider token that are free within `providerTokenWindowMs`; the next one answers 429.
  package var providerTokenChanges = 1
  package var providerTokenScope = TokenScope.key
  package var providerTokenWindowMs: Int64 = 20 * 60 * 1000
  /// Age in seconds beyond which a provider token is expired, and distance in the future beyond which it is invalid.
  package var providerTokenAgeSeconds: Int64 = 3600
  /// A connection without a request or PING for so long is sent away by GOAWAY IdleTimeout; `nil` never. Apple
  /// publishes no number.
  package var idleTimeoutMs: Int64?
  /// Keeps the last requests for `GET …/requests`; counters are exact either way.
  package var logsRequests = true
  /// Keeps pushes in inboxes. Off only for benches: then nothing is stored for offline devices either.
  package var keepsInbox = true

  /// Bounds of what is kept; smaller in tests.
  package var inboxBytes = StandInLimits.inboxBytes
  package var wireLogRequests = StandInLimits.wireLogRequests
  package var wireLogBytes = StandInLimits.wireLogBytes

  package init() {}
}
