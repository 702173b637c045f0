import PabalModel
import PabalPrimitives
import SQLiteDriver
import Storage

extension StorageSession {
  func register(_ registration: DeviceRegistration, freshSecret: String) throws -> RegistrationResult {
    let appMode = registration.appMode
    let own = try ownRow(of: registration)
    let holder = try registration.token.flatMap { token in
      try deviceNumber(holding: token, in: appMode).flatMap { try device($0, in: appMode) }
    }
    switch try RegistrationPlan.plan(registration, own: own, holder: holder) {
    case .superseded(let device):
      return RegistrationResult(status: .superseded, device: device)
    case .create:
      return try create(registration, freshSecret: freshSecret)
    case .update(let device, let status, let removed, let mintsSecret):
      let old = own?.device ?? holder
      if let removed { try remove(removed, in: appMode, at: registration.at) }
      try replace(old, by: device, status: status, in: appMode)
      let provesNow = own.map { $0.proof == .right && !$0.isProven } ?? false
      if status != .unchanged || mintsSecret || provesNow {
        try keepInstall(of: device, in: appMode, secret: mintsSecret ? freshSecret : nil, isProven: provesNow)
      }
      return RegistrationResult(
        status: status, device: device, installSecret: mintsSecret ? freshSecret : nil,
        replaced: removed.map { [$0] } ?? [])
    }
  }

  private func ownRow(of registration: DeviceRegistration) throws -> RegisteredInstall? {
    guard let install = registration.install,
      let number = try deviceNumber(of: install, in: registration.appMode),
      let device = try device(number, in: registration.appMode)
    else { return nil }
    let (hash, isProven) = try secret(of: install, in: registration.appMode)
    let proof: RegisteredInstall.Proof =
      if let secret = registration.installSecret {
        try keys.isInstallSecret(secret, hash: hash) ? .right : .wrong
      } else {
        .notPresented
      }
    return RegisteredInstall(device: device, proof: proof, isProven: isProven)
  }

  private func secret(of install: InstallID, in appMode: AppMode) throws -> (hash: [UInt8], isProven: Bool) {
    try connection.first(
      "SELECT secretHash, proven FROM install WHERE am = ? AND id = ?", .integer(appMode.rawValue),
      .text(install.rawValue)
    ) { ($0.blob(0), $0.integer(1) != 0) } ?? ([], false)
  }

  private func create(_ registration: DeviceRegistration, freshSecret: String) throws -> RegistrationResult {
    let appMode = registration.appMode
    let number = DeviceNumber(rawValue: try nextDeviceNumber())
    let id = try keys.deviceID(for: number, appMode: appMode)
    let device = DeviceRecord(number: number, id: id, creating: registration)
    let owner = try owner(device.user, in: appMode)
    try insert(device, owner: owner, in: appMode)
    let secret = registration.install == nil ? nil : freshSecret
    try keepInstall(of: device, in: appMode, secret: secret, isProven: false)
    try noteChange(of: owner, in: appMode, at: registration.at)
    return RegistrationResult(status: .created, device: device, installSecret: secret)
  }

  /// Never used again, so it is counted and not looked up.
  private func nextDeviceNumber() throws -> Int64 {
    try connection.run(
      """
      INSERT INTO meta (key, value) VALUES ('lastDevice', 1)
      ON CONFLICT (key) DO UPDATE SET value = value + 1
      """)
    return try connection.first("SELECT value FROM meta WHERE key = 'lastDevice'") { $0.integer(0) } ?? 0
  }

  private func insert(_ device: DeviceRecord, owner: UserNumber, in appMode: AppMode) throws {
    let attributes = device.attributes
    let box = try device.token.map { try keys.seal($0.bytes, at: StorageKeys.Seat(token: device.number)) }
    let index = try device.token.map { try keys.blindIndex(of: $0, appMode: appMode) }
    try connection.run(
      """
      INSERT INTO device (am, user, dev, provider, kind, platform, topic, status, reason, created, locale, zone, app,
        os, model, permission, lockScreen, sdk, serviceExtension, contentExtension, token, bidx, inactive)
      VALUES (?, ?, ?, 'apns', 'alert', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(appMode.rawValue), .integer(owner.rawValue), .integer(device.number.rawValue),
      .text(device.platform.rawValue), SQLiteValue(device.topic?.rawValue),
      .integer(device.status == .active ? 1 : 0), SQLiteValue(device.inactiveReason?.rawValue),
      .integer(device.createdAt.milliseconds), SQLiteValue(attributes.locale), SQLiteValue(attributes.timeZone),
      SQLiteValue(attributes.appVersion), SQLiteValue(attributes.osVersion), SQLiteValue(attributes.model),
      SQLiteValue(attributes.permission), SQLiteValue(attributes.lockScreen), SQLiteValue(attributes.sdkVersion),
      SQLiteValue(attributes.hasServiceExtension), SQLiteValue(attributes.hasContentExtension), SQLiteValue(box),
      SQLiteValue(index), SQLiteValue(device.inactiveSince?.milliseconds))
    try connection.run(
      "INSERT INTO device_seen (am, dev, user, registered, env, learned) VALUES (?, ?, ?, ?, ?, ?)",
      .integer(appMode.rawValue), .integer(device.number.rawValue), .integer(owner.rawValue),
      .integer(device.registeredAt.milliseconds), SQLiteValue(device.environment?.rawValue),
      SQLiteValue(device.environmentIsLearned))
  }

  private func deleteRows(of device: DeviceNumber, owner: UserNumber, in appMode: AppMode) throws {
    try connection.run(
      "DELETE FROM device WHERE am = ? AND user = ? AND dev = ?", .integer(appMode.rawValue),
      .integer(owner.rawValue), .integer(device.rawValue))
    try connection.run(
      "DELETE FROM device_seen WHERE am = ? AND dev = ?", .integer(appMode.rawValue), .integer(device.rawValue))
  }

  func remove(_ device: DeviceRecord, in appMode: AppMode, at now: WallTime) throws {
    let owner = try owner(device.user, in: appMode)
    try deleteRows(of: device.number, owner: owner, in: appMode)
    try connection.run(
      "DELETE FROM install WHERE am = ? AND dev = ?", .integer(appMode.rawValue), .integer(device.number.rawValue))
    try noteChange(of: owner, in: appMode, at: now)
  }

  /// Rewrites the row only when something changed; `registered` is written always, because the 410 rule reads it.
  private func replace(
    _ old: DeviceRecord?, by new: DeviceRecord, status: RegistrationResult.Status, in appMode: AppMode
  ) throws {
    let owner = try owner(new.user, in: appMode)
    guard status != .unchanged else {
      try connection.run(
        "UPDATE device_seen SET registered = ? WHERE am = ? AND dev = ?", .integer(new.registeredAt.milliseconds),
        .integer(appMode.rawValue), .integer(new.number.rawValue))
      return
    }
    let before = try self.owner(old?.user, in: appMode)
    try deleteRows(of: new.number, owner: before, in: appMode)
    try insert(new, owner: owner, in: appMode)
    for user in Set([before, owner]) { try noteChange(of: user, in: appMode, at: new.registeredAt) }
  }

  private func keepInstall(
    of device: DeviceRecord, in appMode: AppMode, secret: String?, isProven: Bool
  ) throws {
    guard let install = device.install else { return }
    let hash = try secret.map { try keys.hash($0, use: "install.secret") }
    try connection.run(
      "DELETE FROM install WHERE am = ? AND dev = ? AND id <> ?", .integer(appMode.rawValue),
      .integer(device.number.rawValue), .text(install.rawValue))
    try connection.run(
      """
      INSERT INTO install (am, id, dev, epoch, secretHash, proven) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (am, id) DO UPDATE SET dev = excluded.dev, epoch = excluded.epoch,
        secretHash = coalesce(excluded.secretHash, secretHash), proven = max(proven, excluded.proven)
      """,
      .integer(appMode.rawValue), .text(install.rawValue), .integer(device.number.rawValue),
      .integer(device.epoch), SQLiteValue(hash), SQLiteValue(isProven))
  }

  // MARK: Leaving

  func unregister(_ request: DeviceUnregistration) throws -> UnregistrationResult {
    guard let number = try deviceNumber(holding: request.token, in: request.appMode),
      let device = try device(number, in: request.appMode), let user = device.user
    else { return .absent }
    guard user == request.user else { return .notOwner }
    try leave(device, in: request.appMode, at: request.at)
    return .removed(device.id)
  }

  func release(_ id: DeviceID, in appMode: AppMode, at now: WallTime) throws -> DeviceRecord? {
    guard let number = try keys.number(of: id, appMode: appMode), let device = try device(number, in: appMode),
      device.user != nil
    else { return nil }
    try leave(device, in: appMode, at: now)
    return device
  }

  /// An install keeps its row, without its user; a device that is nothing but its token goes.
  private func leave(_ device: DeviceRecord, in appMode: AppMode, at now: WallTime) throws {
    if device.install == nil {
      try remove(device, in: appMode, at: now)
    } else {
      try unbind(device, epoch: device.epoch, isProven: false, in: appMode, at: now)
    }
  }

  func signOut(_ request: InstallSignOut) throws -> SignOutResult {
    guard let number = try deviceNumber(of: request.install, in: request.appMode),
      let device = try device(number, in: request.appMode)
    else { return .absent }
    let (hash, _) = try secret(of: request.install, in: request.appMode)
    guard try keys.isInstallSecret(request.installSecret, hash: hash) else { return .wrongSecret }
    guard request.epoch >= device.epoch else { return .superseded(device) }
    return .signedOut(
      try unbind(device, epoch: request.epoch, isProven: true, in: request.appMode, at: request.at))
  }

  @discardableResult
  private func unbind(
    _ device: DeviceRecord, epoch: Int64, isProven: Bool, in appMode: AppMode, at now: WallTime
  ) throws -> DeviceRecord {
    let before = try owner(device.user, in: appMode)
    var unbound = device
    unbound.user = nil
    unbound.epoch = epoch
    try deleteRows(of: device.number, owner: before, in: appMode)
    try insert(unbound, owner: .nobody, in: appMode)
    try keepInstall(of: unbound, in: appMode, secret: nil, isProven: isProven)
    try noteChange(of: before, in: appMode, at: now)
    return unbound
  }

  // MARK: Preferences

  func preferences(of user: UserNumber, in appMode: AppMode) throws -> PreferenceSet {
    let settings = try connection.rows(
      "SELECT category, isOn, setAt FROM preference WHERE am = ? AND user = ?", .integer(appMode.rawValue),
      .integer(user.rawValue)
    ) { row in
      let setAt = WallTime(milliseconds: row.integer(2))
      return (row.text(0), PreferenceSet.Setting(isOn: row.integer(1) != 0, setAt: setAt))
    }
    return PreferenceSet(settings: Dictionary(settings) { _, last in last })
  }

  func setPreferences(_ change: PreferenceChange) throws -> PreferenceSet {
    let user = try seeUser(change.user, in: change.appMode)
    for (category, isOn) in change.values {
      try connection.run(
        """
        INSERT INTO preference (am, user, category, isOn, setAt) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (am, user, category) DO UPDATE SET isOn = excluded.isOn, setAt = excluded.setAt
        WHERE isOn <> excluded.isOn
        """,
        .integer(change.appMode.rawValue), .integer(user.rawValue), .text(category), SQLiteValue(isOn),
        .integer(change.at.milliseconds))
    }
    try noteChange(of: user, in: change.appMode, at: change.at)
    return try preferences(of: user, in: change.appMode)
  }

  func snapshot(of users: [UserID], in appMode: AppMode) throws -> AudienceSnapshot {
    var seen: Set<UserID> = []
    let members = try users.filter { seen.insert($0).inserted }.map { user in
      guard let number = try userNumber(user, in: appMode) else {
        return AudienceMember(id: user, number: nil, preferences: PreferenceSet(), devices: [])
      }
      return AudienceMember(
        id: user, number: number, preferences: try preferences(of: number, in: appMode),
        devices: try devices(of: number, in: appMode))
    }
    return AudienceSnapshot(change: try newestChange(), users: members)
  }
}
