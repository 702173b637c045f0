import PabalModel
import PabalPrimitives

extension MemoryState {
  mutating func register(
    _ registration: DeviceRegistration, freshSecret: String
  ) throws(StorageError) -> RegistrationResult {
    let appMode = registration.appMode
    let rows = devices.values.filter { $0.appMode == appMode }
    let own = registration.install.flatMap { install in rows.first { $0.record.install == install } }
    let holder = registration.token.flatMap { token in rows.first { $0.record.token == token } }
    let proof = own.map { row in
      RegisteredInstall(
        device: row.record, proof: Self.proof(of: registration.installSecret, against: row), isProven: row.isProven)
    }
    switch try RegistrationPlan.plan(registration, own: proof, holder: holder?.record) {
    case .superseded(let device):
      return RegistrationResult(status: .superseded, device: device)
    case .create:
      lastDevice += 1
      let number = DeviceNumber(rawValue: lastDevice)
      let record = DeviceRecord(number: number, id: Self.deviceID(for: number), creating: registration)
      let secret = registration.install == nil ? nil : freshSecret
      devices[number] = Device(appMode: appMode, record: record, secret: secret)
      if let user = registration.user { _ = see(user, in: appMode) }
      noteChange(of: registration.user, in: appMode)
      return RegistrationResult(status: .created, device: record, installSecret: secret)
    case .update(let device, let status, let removed, let mintsSecret):
      guard let old = devices[device.number] else { preconditionFailure("the plan names a row that it was given") }
      if let removed { devices[removed.number] = nil }
      var row = old
      row.record = device
      if mintsSecret { row.secret = freshSecret }
      if proof?.proof == .right { row.isProven = true }
      devices[device.number] = row
      if let user = device.user { _ = see(user, in: appMode) }
      if status != .unchanged {
        for user in Set([old.record.user, device.user, removed?.user]) { noteChange(of: user, in: appMode) }
      }
      return RegistrationResult(
        status: status, device: device, installSecret: mintsSecret ? freshSecret : nil,
        replaced: removed.map { [$0] } ?? [])
    }
  }

  private static func proof(of secret: String?, against row: Device) -> RegisteredInstall.Proof {
    guard let secret else { return .notPresented }
    return secret == row.secret ? .right : .wrong
  }

  mutating func unregister(_ request: DeviceUnregistration) -> UnregistrationResult {
    let holder = devices.values.first { $0.appMode == request.appMode && $0.record.token == request.token }
    guard let holder, let owner = holder.record.user else { return .absent }
    guard owner == request.user else { return .notOwner }
    return release(holder.record.id, in: request.appMode).map { .removed($0.id) } ?? .absent
  }

  mutating func release(_ id: DeviceID, in appMode: AppMode) -> DeviceRecord? {
    guard let device = devices(in: appMode).first(where: { $0.id == id }), let owner = device.user else { return nil }
    if device.install == nil {
      devices[device.number] = nil
    } else {
      devices[device.number]?.record.user = nil
    }
    noteChange(of: owner, in: appMode)
    return device
  }

  mutating func signOut(_ request: InstallSignOut) -> SignOutResult {
    let rows = devices.values
    guard var row = rows.first(where: { $0.appMode == request.appMode && $0.record.install == request.install })
    else { return .absent }
    guard Self.proof(of: request.installSecret, against: row) == .right else { return .wrongSecret }
    guard request.epoch >= row.record.epoch else { return .superseded(row.record) }
    noteChange(of: row.record.user, in: request.appMode)
    row.isProven = true
    row.record.user = nil
    row.record.epoch = request.epoch
    devices[row.record.number] = row
    return .signedOut(row.record)
  }

  func preferences(of user: UserID, in appMode: AppMode) -> PreferenceSet {
    preferences[UserKey(appMode: appMode, user: user)] ?? PreferenceSet()
  }

  mutating func setPreferences(_ change: PreferenceChange) -> PreferenceSet {
    _ = see(change.user, in: change.appMode)
    var set = preferences(of: change.user, in: change.appMode)
    for (category, isOn) in change.values where set[category]?.isOn != isOn {
      set.settings[category] = PreferenceSet.Setting(isOn: isOn, setAt: change.at)
    }
    preferences[UserKey(appMode: change.appMode, user: change.user)] = set
    noteChange(of: change.user, in: change.appMode)
    return set
  }

  func snapshot(of users: [UserID], in appMode: AppMode) -> AudienceSnapshot {
    var seen: Set<UserID> = []
    let all = devices(in: appMode)
    let members = users.filter { seen.insert($0).inserted }.map { user in
      AudienceMember(
        id: user, number: self.users[UserKey(appMode: appMode, user: user)],
        preferences: preferences(of: user, in: appMode), devices: all.filter { $0.user == user })
    }
    return AudienceSnapshot(change: ChangeSequence(rawValue: Int64(changes.count)), users: members)
  }
}
