package import PabalModel
package import PabalPrimitives

/// A device as the registry holds it, its token opened.
package struct DeviceRecord: Sendable {
  package enum Status: String, Sendable {
    case active
    /// A provider or the user said that the token is of no use; kept, and revived by a registration or a report.
    case inactive
  }

  package var number: DeviceNumber
  package var id: DeviceID
  package var user: UserID?
  package var install: InstallID?
  package var epoch: Int64
  /// Does not print itself; see ``DeviceToken``.
  package var token: DeviceToken?
  package var platform: Platform
  package var topic: Topic?
  package var environment: PushEnvironment?
  /// True once a 200 proved it; then a BadDeviceToken deactivates.
  package var environmentIsLearned: Bool
  package var status: Status
  /// Why it is inactive.
  package var inactiveReason: ReasonCode?
  /// Since when it is inactive; ``Retention`` counts from there.
  package var inactiveSince: WallTime?
  package var attributes: DeviceAttributes
  package var createdAt: WallTime
  package var registeredAt: WallTime

  package init(
    number: DeviceNumber, id: DeviceID, user: UserID?, install: InstallID?, epoch: Int64, token: DeviceToken?,
    platform: Platform, topic: Topic?, environment: PushEnvironment?, environmentIsLearned: Bool, status: Status,
    inactiveReason: ReasonCode?, attributes: DeviceAttributes, createdAt: WallTime, registeredAt: WallTime,
    inactiveSince: WallTime? = nil
  ) {
    self.number = number
    self.id = id
    self.user = user
    self.install = install
    self.epoch = epoch
    self.token = token
    self.platform = platform
    self.topic = topic
    self.environment = environment
    self.environmentIsLearned = environmentIsLearned
    self.status = status
    self.inactiveReason = inactiveReason
    self.attributes = attributes
    self.createdAt = createdAt
    self.registeredAt = registeredAt
    self.inactiveSince = inactiveSince
  }
}
