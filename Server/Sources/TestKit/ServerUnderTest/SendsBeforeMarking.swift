import PabalModel
import PabalPrimitives
import Storage

/// The planted mistake: a message is accepted, sent, and only its outcome tells the store that it was under way. After
/// a crash in between it looks unsent and goes out a second time.
struct SendsBeforeMarking: PushStorage {
  let inner: any PushStorage

  func accept(_ acceptance: MessageAcceptance) async throws(StorageError) -> AcceptanceResult {
    var unmarked = acceptance
    unmarked.start = .queued
    guard case .accepted = try await inner.accept(unmarked) else { return try await inner.accept(unmarked) }
    let snapshot = try await inner.snapshot(of: acceptance.decisions.map(\.user), in: acceptance.appMode)
    let devices = snapshot.users.flatMap(\.devices)
    return .accepted(
      acceptance.deliveries.compactMap { delivery in
        let key = DeliveryKey(message: acceptance.identity.number, device: delivery.device)
        guard let device = devices.first(where: { $0.number == delivery.device }), let token = device.token,
          let push = delivery.push
        else { return nil }
        let id = OpaqueID(
          high: UInt64(bitPattern: key.message.rawValue), low: UInt64(bitPattern: key.device.rawValue))
        return OutgoingDelivery(
          appMode: acceptance.appMode, key: key, id: inner.deliveryID(for: key), messageID: acceptance.identity.id,
          apnsID: id.uuid, token: token, topic: device.topic, environment: device.environment,
          environmentIsLearned: device.environmentIsLearned, push: push, expiresAt: acceptance.expiresAt)
      })
  }

  func openApp(named name: String, mode: PushMode) async throws(StorageError) -> AppMode {
    try await inner.openApp(named: name, mode: mode)
  }
  func register(_ registration: DeviceRegistration) async throws(StorageError) -> RegistrationResult {
    try await inner.register(registration)
  }
  func unregister(_ request: DeviceUnregistration) async throws(StorageError) -> UnregistrationResult {
    try await inner.unregister(request)
  }
  func signOut(_ request: InstallSignOut) async throws(StorageError) -> SignOutResult {
    try await inner.signOut(request)
  }
  func device(_ id: DeviceID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await inner.device(id, in: appMode)
  }
  func device(of install: InstallID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await inner.device(of: install, in: appMode)
  }
  func devices(of user: UserID, in appMode: AppMode) async throws(StorageError) -> [DeviceRecord] {
    try await inner.devices(of: user, in: appMode)
  }
  func activeDevices(
    in appMode: AppMode, after: DeviceNumber?, limit: Int
  ) async throws(StorageError) -> [DeviceRecord] {
    try await inner.activeDevices(in: appMode, after: after, limit: limit)
  }
  func preferences(of user: UserID, in appMode: AppMode) async throws(StorageError) -> PreferenceSet {
    try await inner.preferences(of: user, in: appMode)
  }
  func setPreferences(_ change: PreferenceChange) async throws(StorageError) -> PreferenceSet {
    try await inner.setPreferences(change)
  }
  func snapshot(of users: [UserID], in appMode: AppMode) async throws(StorageError) -> AudienceSnapshot {
    try await inner.snapshot(of: users, in: appMode)
  }
  func reserveMessage(at now: WallTime) -> MessageIdentity { inner.reserveMessage(at: now) }
  func deliveryID(for key: DeliveryKey) -> DeliveryID { inner.deliveryID(for: key) }
  func claimQueued(limit: Int, at now: WallTime) async throws(StorageError) -> [OutgoingDelivery] {
    try await inner.claimQueued(limit: limit, at: now)
  }
  func openMarks() async throws(StorageError) -> [OpenMark] { try await inner.openMarks() }
  func recordOutcomes(_ outcomes: [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult] {
    try await inner.recordOutcomes(outcomes)
  }
  func recordEvents(_ events: [DeviceEvent]) async throws(StorageError) -> [EventResult] {
    try await inner.recordEvents(events)
  }
  func message(_ id: MessageID, in appMode: AppMode) async throws(StorageError) -> MessageRecord? {
    try await inner.message(id, in: appMode)
  }
  func deliveries(of message: MessageID, in appMode: AppMode) async throws(StorageError) -> [DeliveryRecord] {
    try await inner.deliveries(of: message, in: appMode)
  }
  func deliveries(
    to user: UserID, in appMode: AppMode, limit: Int
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await inner.deliveries(to: user, in: appMode, limit: limit)
  }
  func trace(of delivery: DeliveryID, in appMode: AppMode) async throws(StorageError) -> DeliveryTrace? {
    try await inner.trace(of: delivery, in: appMode)
  }
  func explanation(
    of message: MessageID, for user: UserID, in appMode: AppMode
  ) async throws(StorageError) -> UserExplanation? {
    try await inner.explanation(of: message, for: user, in: appMode)
  }
  func messages(
    to user: UserID, in appMode: AppMode, limit: Int
  ) async throws(StorageError) -> [MessageIdentity] {
    try await inner.messages(to: user, in: appMode, limit: limit)
  }
  func counts(in appMode: AppMode) async throws(StorageError) -> StorageCounts {
    try await inner.counts(in: appMode)
  }
}
