package import PabalModel
package import PabalPrimitives

/// How one hand-over of a marked delivery ended: for good, or with another try later.
package struct DeliveryOutcome: Sendable {
  package var key: DeliveryKey
  /// Terminal, or `retrying`.
  package var state: DeliveryState
  /// Of `retrying`: what it waits for.
  package var reason: ReasonCode?
  package var at: WallTime
  /// Of `retrying`: when it is to be claimed again.
  package var retryAt: WallTime?
  /// The token that was tried: hygiene touches the device only while it still has this one.
  package var token: DeviceToken?
  /// In order; the last one decides about token hygiene. Empty when nothing was tried.
  package var attempts: [AttemptRecord]

  package init(
    key: DeliveryKey, state: DeliveryState, reason: ReasonCode?, at: WallTime, retryAt: WallTime? = nil,
    token: DeviceToken?, attempts: [AttemptRecord]
  ) {
    self.key = key
    self.state = state
    self.reason = reason
    self.at = at
    self.retryAt = retryAt
    self.token = token
    self.attempts = attempts
  }
}

/// One request to a provider, or several equal ones of which only the last answer is known.
package struct AttemptRecord: Hashable, Sendable {
  /// 1 and up.
  package var number: Int
  package var startedAt: WallTime
  package var duration: Duration
  package var environment: PushEnvironment
  /// `nil`: no answer.
  package var status: Int?
  /// The provider's own spelling.
  package var reason: String?
  /// Apple's 410: since when the token is known to be dead.
  package var tokenDeadSince: WallTime?
  package var apnsID: String?
  package var apnsUniqueID: String?
  package var connection: String

  package init(
    number: Int, startedAt: WallTime, duration: Duration, environment: PushEnvironment, status: Int?,
    reason: String?, tokenDeadSince: WallTime?, apnsID: String?, apnsUniqueID: String?, connection: String
  ) {
    self.number = number
    self.startedAt = startedAt
    self.duration = duration
    self.environment = environment
    self.status = status
    self.reason = reason
    self.tokenDeadSince = tokenDeadSince
    self.apnsID = apnsID
    self.apnsUniqueID = apnsUniqueID
    self.connection = connection
  }
}

/// What an outcome did to the device's row, decided in the outcome's transaction.
package enum TokenHygiene: Hashable, Sendable {
  case none
  /// A 200 proved where the token lives.
  case environmentLearned(PushEnvironment)
  case deactivated(ReasonCode)
  /// A 410 whose moment is not after the last registration: the token came back to life.
  case keptReregistered
  /// BadDeviceToken before any 200 showed the environment: it says nothing about the token.
  case keptEnvironmentUnknown
  /// The device has another token by now.
  case keptTokenReplaced
}

/// What recording one outcome did.
package struct OutcomeResult: Hashable, Sendable {
  package var key: DeliveryKey
  /// False when the delivery was terminal already: the first outcome stands.
  package var isRecorded: Bool
  package var hygiene: TokenHygiene
  /// What the delivery is counted under.
  package var subject: DeliverySubject?

  package init(key: DeliveryKey, isRecorded: Bool, hygiene: TokenHygiene, subject: DeliverySubject? = nil) {
    self.key = key
    self.isRecorded = isRecorded
    self.hygiene = hygiene
    self.subject = subject
  }
}

/// What a delivery is, as far as it is counted.
package struct DeliverySubject: Hashable, Sendable {
  package var frequencyClass: String
  /// `nil` when the device is gone.
  package var platform: Platform?
  /// When the message was accepted.
  package var since: WallTime

  package init(frequencyClass: String, platform: Platform?, since: WallTime) {
    self.frequencyClass = frequencyClass
    self.platform = platform
    self.since = since
  }
}
