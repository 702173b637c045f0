/// A refusal in APNs' own words: the `reason` of an error body and the status that it travels under.
///
/// Typed in from Apple, "Handling notification responses from APNs". This table shares nothing with the client's:
/// one table used on both sides would agree with itself about any mistake.
package struct StandInReason: Hashable, Sendable {
  package let status: Int
  package let word: String

  private init(_ status: Int, _ word: String) {
    self.status = status
    self.word = word
  }

  package static let badCollapseId = Self(400, "BadCollapseId")
  package static let badDeviceToken = Self(400, "BadDeviceToken")
  package static let badExpirationDate = Self(400, "BadExpirationDate")
  package static let badMessageId = Self(400, "BadMessageId")
  package static let badPriority = Self(400, "BadPriority")
  package static let badTopic = Self(400, "BadTopic")
  package static let deviceTokenNotForTopic = Self(400, "DeviceTokenNotForTopic")
  package static let duplicateHeaders = Self(400, "DuplicateHeaders")
  package static let idleTimeout = Self(400, "IdleTimeout")
  package static let invalidPushType = Self(400, "InvalidPushType")
  package static let missingDeviceToken = Self(400, "MissingDeviceToken")
  package static let missingTopic = Self(400, "MissingTopic")
  package static let payloadEmpty = Self(400, "PayloadEmpty")
  package static let topicDisallowed = Self(400, "TopicDisallowed")
  package static let badCertificate = Self(403, "BadCertificate")
  package static let badCertificateEnvironment = Self(403, "BadCertificateEnvironment")
  package static let expiredProviderToken = Self(403, "ExpiredProviderToken")
  package static let forbidden = Self(403, "Forbidden")
  package static let invalidProviderToken = Self(403, "InvalidProviderToken")
  package static let missingProviderToken = Self(403, "MissingProviderToken")
  package static let unrelatedKeyIdInToken = Self(403, "UnrelatedKeyIdInToken")
  /// Apple's page spells it `BadEnvironmentKeyIdInToken`; this is the spelling seen on the wire.
  package static let badEnvironmentKeyInToken = Self(403, "BadEnvironmentKeyInToken")
  package static let badPath = Self(404, "BadPath")
  package static let methodNotAllowed = Self(405, "MethodNotAllowed")
  package static let expiredToken = Self(410, "ExpiredToken")
  package static let unregistered = Self(410, "Unregistered")
  package static let payloadTooLarge = Self(413, "PayloadTooLarge")
  package static let tooManyProviderTokenUpdates = Self(429, "TooManyProviderTokenUpdates")
  package static let tooManyRequests = Self(429, "TooManyRequests")
  package static let internalServerError = Self(500, "InternalServerError")
  package static let serviceUnavailable = Self(503, "ServiceUnavailable")
  package static let shutdown = Self(503, "Shutdown")

  /// Every reason above, by status and then by name.
  package static let all: [StandInReason] = [
    badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic, deviceTokenNotForTopic,
    duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic, payloadEmpty, topicDisallowed,
    badCertificate, badCertificateEnvironment, badEnvironmentKeyInToken, expiredProviderToken, forbidden,
    invalidProviderToken, missingProviderToken, unrelatedKeyIdInToken, badPath, methodNotAllowed, expiredToken,
    unregistered, payloadTooLarge, tooManyProviderTokenUpdates, tooManyRequests, internalServerError,
    serviceUnavailable, shutdown,
  ]

  /// The reason a scripted reply carries when its rule gives only a status.
  package static func usual(for status: Int) -> String? {
    switch status {
    case 200: nil
    case 400: badDeviceToken.word
    case 403: forbidden.word
    case 410: unregistered.word
    case 429: tooManyRequests.word
    case 500: internalServerError.word
    case 503: serviceUnavailable.word
    default: all.first { $0.status == status }?.word
    }
  }
}
