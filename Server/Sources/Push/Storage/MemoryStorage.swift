package import PabalModel
package import PabalPrimitives

/// The second conformer of ``PushStorage``: everything in memory, gone with the process. For tests and as the measure
/// of what the port says.
package final class MemoryStorage: PushStorage {
  private let state = Locked(MemoryState())
  private let randomness: Randomness

  package init(randomness: Randomness = .system) {
    self.randomness = randomness
  }

  private func run<Value>(
    _ body: (inout MemoryState) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let result: Result<Value, StorageError> = state.withLock { state in
      do throws(StorageError) {
        return .success(try body(&state))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  package func openApp(named name: String, mode: PushMode) async throws(StorageError) -> AppMode {
    try run { (state) throws(StorageError) in try state.openApp(named: name, mode: mode) }
  }

  package func register(_ registration: DeviceRegistration) async throws(StorageError) -> RegistrationResult {
    let secret = Base64URL.encode(randomness.fill(32))
    return try run { (state) throws(StorageError) in try state.register(registration, freshSecret: secret) }
  }

  package func unregister(_ request: DeviceUnregistration) async throws(StorageError) -> UnregistrationResult {
    try run { $0.unregister(request) }
  }

  package func signOut(_ request: InstallSignOut) async throws(StorageError) -> SignOutResult {
    try run { $0.signOut(request) }
  }

  package func release(
    _ device: DeviceID, in appMode: AppMode, at now: WallTime
  ) async throws(StorageError) -> DeviceRecord? {
    try run { $0.release(device, in: appMode) }
  }

  package func device(_ id: DeviceID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try run { state in state.devices(in: appMode).first { $0.id == id } }
  }

  package func device(of install: InstallID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord? {
    try run { state in state.devices(in: appMode).first { $0.install == install } }
  }

  package func devices(of user: UserID, in appMode: AppMode) async throws(StorageError) -> [DeviceRecord] {
    try run { state in state.devices(in: appMode).filter { $0.user == user } }
  }

  package func activeDevices(
    in appMode: AppMode, after: DeviceNumber?, limit: Int
  ) async throws(StorageError) -> [DeviceRecord] {
    try run { state in
      let later = state.devices(in: appMode).filter { $0.number > after ?? DeviceNumber(rawValue: .min) }
      return Array(later.filter { $0.status == .active && $0.token != nil }.prefix(limit))
    }
  }

  package func preferences(of user: UserID, in appMode: AppMode) async throws(StorageError) -> PreferenceSet {
    try run { $0.preferences(of: user, in: appMode) }
  }

  package func setPreferences(_ change: PreferenceChange) async throws(StorageError) -> PreferenceSet {
    try run { $0.setPreferences(change) }
  }

  package func snapshot(of users: [UserID], in appMode: AppMode) async throws(StorageError) -> AudienceSnapshot {
    try run { $0.snapshot(of: users, in: appMode) }
  }

  package func reserveMessage(at now: WallTime) -> MessageIdentity {
    let chance = randomness.fill(10)
    return state.withLock { state in
      state.lastMessage += 1
      let id = OpaqueID.timeOrdered(milliseconds: now.milliseconds, chance: chance)
      return MessageIdentity(
        number: MessageNumber(rawValue: state.lastMessage), id: MessageID(rawValue: id.text(prefix: "msg_")))
    }
  }

  package func deliveryID(for key: DeliveryKey) -> DeliveryID {
    MemoryState.deliveryID(for: key)
  }

  package func accept(_ acceptance: MessageAcceptance) async throws(StorageError) -> AcceptanceResult {
    try run { (state) throws(StorageError) in try state.accept(acceptance) }
  }

  package func claimQueued(limit: Int, at now: WallTime) async throws(StorageError) -> QueueClaim {
    try run { $0.claimQueued(limit: limit, at: now) }
  }

  package func openMarks() async throws(StorageError) -> [OpenMark] {
    try run { $0.openMarks() }
  }

  package func recordOutcomes(_ outcomes: [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult] {
    try run { (state) throws(StorageError) in try state.recordOutcomes(outcomes) }
  }

  package func recordEvents(_ events: [DeviceEvent]) async throws(StorageError) -> [EventResult] {
    try run { (state) throws(StorageError) in try state.recordEvents(events) }
  }

  package func message(_ id: MessageID, in appMode: AppMode) async throws(StorageError) -> MessageRecord? {
    try run { state in state.message(id, in: appMode).map { state.record(of: $0) } }
  }

  package func deliveries(
    of message: MessageID, to user: UserID?, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try run { state in
      guard let message = state.message(message, in: appMode) else { return [] }
      let all = state.deliveries(of: message).map(\.record).filter { user == nil || $0.user == user }
      return page.cut(all, by: \.id)
    }
  }

  package func deliveries(
    to user: UserID, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord] {
    try run { page.cut($0.deliveries(to: user, in: appMode), by: \.id) }
  }

  package func trace(of delivery: DeliveryID, in appMode: AppMode) async throws(StorageError) -> DeliveryTrace? {
    try run { $0.trace(of: delivery, in: appMode) }
  }

  package func explanation(
    of message: MessageID, for user: UserID, in appMode: AppMode
  ) async throws(StorageError) -> UserExplanation? {
    try run { $0.explanation(of: message, for: user, in: appMode) }
  }

  package func messages(
    to user: UserID, in appMode: AppMode, page: ListPage<MessageID>
  ) async throws(StorageError) -> [MessageSummary] {
    try run { state in
      page.cut(state.messages(to: user, in: appMode), by: \.id).compactMap { identity in
        state.messages[identity.number].map { state.record(of: $0.acceptance).summary }
      }
    }
  }

  package func newestMessage(
    of type: String, to user: UserID, among: Int, in appMode: AppMode
  ) async throws(StorageError) -> MessageIdentity? {
    try run { $0.newestMessage(of: type, to: user, among: among, in: appMode) }
  }

  package func prune(from place: PrunePlace, limit: Int, at now: WallTime) async throws(StorageError) -> PruneStep {
    try run { $0.prune(from: place, limit: limit, at: now) }
  }

  package func deviceCounts(in appMode: AppMode) async throws(StorageError) -> [DeviceCount] {
    try run { $0.deviceCounts(in: appMode) }
  }

  package func counts(in appMode: AppMode) async throws(StorageError) -> StorageCounts {
    try run { $0.counts(in: appMode) }
  }
}

extension ListPage where ID: Equatable {
  fileprivate func cut<Member>(_ all: [Member], by id: (Member) -> ID) -> [Member] {
    guard let after else { return Array(all.prefix(limit)) }
    guard let last = all.firstIndex(where: { id($0) == after }) else { return [] }
    return Array(all[(last + 1)...].prefix(limit))
  }
}
