/// Apple's numbers, and ours where Apple gives none.
package enum APNsLimits {
  /// Everything but `voip` (Apple, "Generating a remote notification").
  package static let payloadBytes = 4096
  package static let voipPayloadBytes = 5120
  /// Apple, "Sending notification requests to APNs".
  package static let collapseIDBytes = 64
  /// Storage time that Apple grants at most.
  package static let storageDays = 30
  /// Key and team ids (Apple, "Establishing a token-based connection to APNs").
  package static let identifierCharacters = 10
  /// Ours: a bundle id has at most 155 characters in Apple's portal; suffixes and slack included.
  package static let topicBytes = 255
  /// Ours: an error body is one short object; the rest is not read.
  package static let replyBodyBytes = 4096
  /// An expiration from here on is in milliseconds by mistake: as seconds it would be the year 5138.
  package static let firstImplausibleExpiration: Int64 = 100_000_000_000
}
