package import PabalModel

extension DeviceRecord? {
  /// Why what was decided for `user` may not leave for this device any more, `nil` if it may. Both stores ask it when a
  /// delivery that waited is claimed: devices and wishes change meanwhile.
  ///
  /// - Parameter preference: the user's present word on the message's category; `nil` when none was ever given, and
  /// then
  ///   the decision has applied the default.
  package func obstacle(for user: UserID, preference: PreferenceSet.Setting?) -> ReasonCode? {
    guard let device = self, device.token != nil, let owner = device.user else { return .deviceUnregistered }
    if owner != user { return .deviceReassigned }
    if device.status == .inactive { return .deviceInactive }
    return preference?.isOn == false ? .preferenceOff : nil
  }
}
