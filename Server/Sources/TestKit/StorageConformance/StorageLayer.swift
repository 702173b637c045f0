package import PabalModel
package import PabalPrimitives
package import Storage

/// A store in front of another, with verbs that a test may replace or hear of: one that is slow, full, or wrong.
package struct StorageLayer: PushStorage {
  package let inner: any PushStorage
  /// In place of `accept`.
  package var accepting:
    (@Sendable (_ inner: any PushStorage, MessageAcceptance) async throws(StorageError) -> AcceptanceResult)?
  /// In place of `recordOutcomes`.
  package var recording:
    (@Sendable (_ inner: any PushStorage, [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult])?
  /// In place of `prune`.
  package var biting:
    (
      @Sendable (_ inner: any PushStorage, PrunePlace, _ limit: Int, _ now: WallTime) async throws(StorageError)
        -> PruneStep
    )?

  /// Called before `openMarks`.
  package var lookingForMarks: (@Sendable () -> Void)?
  /// Called before the first bite of a pass of `prune`.
  package var pruning: (@Sendable () -> Void)?

  package init(over inner: any PushStorage) {
    self.inner = inner
  }

  package func openApp(named name: String, mode: PushMode) async throws(StorageError) -> AppMode {
    try await inner.openApp(named: name, mode: mode)
  }
  package func register(_ registration: DeviceRegistration) async throws(StorageError) -> RegistrationResult {
    try await inner.register(registration)
  }
  package func unregister(_ request: DeviceUnregistration) async throws(StorageError) -> UnregistrationResult {
    try await inner.unregister(request)
  }
  package func signOut(_ request: InstallSignOut) async throws(StorageError) -> SignOutResult {
    try await inner.signOut(request)
  }
  package func release(
    _ device: DeviceID, in appMode: AppMode, at now: WallTime
  ) async throws(StorageError) -> DeviceRecord? {
    try await inner.release(device, in: appMode, at: now)
  }
  package func device(_ id: DeviceID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await inner.device(id, in: appMode)
  }
  package func device(of install: InstallID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try await inner.device(of: install, in: appMode)
  }
  package func devices(of user: UserID, in appMode: AppMode) async throws(StorageError) -> [DeviceRecord] {
    try await inner.devices(of: user, in: appMode)
  }
  package func activeDevices(
    in appMode: AppMode, after: DeviceNumber?, limit: Int
  ) async throws(StorageError) -> [DeviceRecord] {
    try await inner.activeDevices(in: appMode, after: after, limit: limit)
  }
  package func preferences(of user: UserID, in appMode: AppMode) async throws(StorageError) -> PreferenceSet {
    try await inner.preferences(of: user, in: appMode)
  }
  package func setPreferences(_ change: PreferenceChange) async throws(StorageError) -> PreferenceSet {
    try await inner.setPreferences(change)
  }
  package func snapshot(of users: [UserID], in appMode: AppMode) async throws(StorageError) -> AudienceSnapshot {
    try await inner.snapshot(of: users, in: appMode)
  }
  package func reserveMessage(at now: WallTime) -> MessageIdentity { inner.reserveMessage(at: now) }
  package func deliveryID(for key: DeliveryKey) -> DeliveryID { inner.deliveryID(for: key) }
  package func claimQueued(limit: Int, at now: WallTime) async throws(StorageError) -> QueueClaim {
    try await inner.claimQueued(limit: limit, at: now)
  }
  package func openMarks() async throws(StorageError) -> [OpenMark] {
    lookingForMarks?()
    return try await inner.openMarks()
  }
  package func accept(_ acceptance: MessageAcceptance) async throws(StorageError) -> AcceptanceResult {
    guard let accepting else { return try await inner.accept(acceptance) }
    return try await accepting(inner, acceptance)
  }
  package func recordOutcomes(_ outcomes: [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult] {
    guard let recording else { return try await inner.recordOutcomes(outcomes) }
    return try await recording(inner, outcomes)
  }
  package func recordEvents(_ events: [DeviceEvent]) async throws(StorageError) -> [EventResult] {
    try await inner.recordEvents(events)
  }
  package func message(_ id: MessageID, in appMode: AppMode) async throws(StorageError) -> MessageRecord? {
    try await inner.message(id, in: appMode)
  }
  package func deliveries(
    of message: MessageID, to user: UserID?, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await inner.deliveries(of: message, to: user, in: appMode, page: page)
  }
  package func deliveries(
    to user: UserID, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try await inner.deliveries(to: user, in: appMode, page: page)
  }
  package func trace(of delivery: DeliveryID, in appMode: AppMode) async throws(StorageError) -> DeliveryTrace? {
    try await inner.trace(of: delivery, in: appMode)
  }
  package func explanation(
    of message: MessageID, for user: UserID, in appMode: AppMode
  ) async throws(StorageError) -> UserExplanation? {
    try await inner.explanation(of: message, for: user, in: appMode)
  }
  package func messages(
    to user: UserID, in appMode: AppMode, page: ListPage<MessageID>
  ) async throws(StorageError) -> [MessageSummary] {
    try await inner.messages(to: user, in: appMode, page: page)
  }
  package func newestMessage(
    of type: String, to user: UserID, among: Int, in appMode: AppMode
  ) async throws(StorageError) -> MessageIdentity? {
    try await inner.newestMessage(of: type, to: user, among: among, in: appMode)
  }
  package func prune(from place: PrunePlace, limit: Int, at now: WallTime) async throws(StorageError) -> PruneStep {
    if place == .start { pruning?() }
    if let biting { return try await biting(inner, place, limit, now) }
    return try await inner.prune(from: place, limit: limit, at: now)
  }
  package func deviceCounts(in appMode: AppMode) async throws(StorageError) -> [DeviceCount] {
    try await inner.deviceCounts(in: appMode)
  }
  package func counts(in appMode: AppMode) async throws(StorageError) -> StorageCounts {
    try await inner.counts(in: appMode)
  }
}
