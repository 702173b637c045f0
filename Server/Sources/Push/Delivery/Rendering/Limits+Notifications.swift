/// Bounds of what a push is made of.
package enum NotificationLimits {
  /// Apple's limit for a remote notification ("Generating a remote notification").
  package static let payloadBytes = 4096
  /// A rating has five; more would only fill the payload.
  package static let stars = 5
  /// Apple keeps a notification for a limited time; four weeks is FCM's maximum, and a push older than that is noise.
  package static let timeToLiveSeconds = 28 * 86_400
  /// Apple's limit for `apns-collapse-id` ("Sending notification requests to APNs").
  package static let collapseKeyBytes = 64
  package static let badge = 0...99_999
}
