package import PabalModel

/// One point in time of the users that a message is decided for.
package struct AudienceSnapshot: Sendable {
  /// Hand it to ``MessageAcceptance/seenChange``.
  package var change: ChangeSequence
  /// In the order asked for, each user once. A user never seen has no number.
  package var users: [AudienceMember]

  package init(change: ChangeSequence, users: [AudienceMember]) {
    self.change = change
    self.users = users
  }
}

/// What is known of one user at that point.
package struct AudienceMember: Sendable {
  package var id: UserID
  /// `nil`: the registry has never heard of this user.
  package var number: UserNumber?
  package var preferences: PreferenceSet
  /// Active and inactive ones, oldest first; the decision names the reason for those it leaves out.
  package var devices: [DeviceRecord]

  package init(id: UserID, number: UserNumber?, preferences: PreferenceSet, devices: [DeviceRecord]) {
    self.id = id
    self.number = number
    self.preferences = preferences
    self.devices = devices
  }
}
