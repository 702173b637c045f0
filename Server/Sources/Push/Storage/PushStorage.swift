package import PabalModel
package import PabalPrimitives

/// The truth: registry, preferences, messages, deliveries. Whatever must be atomic is one method.
///
/// A method that writes returns after its commit is durable. Two conformers exist, SQLite and memory; one suite,
/// `StorageConformance`, holds both to these sentences. What waits to be sent is in the store as well
/// (``claimQueued(limit:at:)``): one process needs no queue beside it, and a second node will bring that port.
package protocol PushStorage: Sendable {
  /// The app's number in this mode, given at first sight. `name`: 1…64 bytes.
  func openApp(named name: String, mode: PushMode) async throws(StorageError) -> AppMode

  // MARK: Registry

  /// One atomic upsert. The row is found by install, else by token; a rotated token replaces the old one in place, so
  /// at no moment has the install none; a token that another row holds moves here and that row is removed.
  ///
  /// - Throws: `installSecretWrong` when nobody is signed in, the install exists and the secret does not match, or is
  ///   missing although the install has shown it before; `invalidCall` without token and install.
  func register(_ registration: DeviceRegistration) async throws(StorageError) -> RegistrationResult

  /// Idempotent. Queued deliveries to the device end `suppressed` when they are claimed.
  func unregister(_ request: DeviceUnregistration) async throws(StorageError) -> UnregistrationResult

  /// Idempotent. Compares the secret in constant time.
  func signOut(_ request: InstallSignOut) async throws(StorageError) -> SignOutResult

  /// Takes a device from its user, as an unregistration does, whether or not it has a token. Idempotent.
  ///
  /// - Returns: the device as it was; `nil` when it is unknown or was nobody's.
  func release(
    _ device: DeviceID, in appMode: AppMode, at now: WallTime
  ) async throws(StorageError) -> DeviceRecord?

  func device(_ id: DeviceID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord?

  func device(of install: InstallID, in appMode: AppMode) async throws(StorageError) -> DeviceRecord?

  /// Active and inactive ones, oldest first.
  func devices(of user: UserID, in appMode: AppMode) async throws(StorageError) -> [DeviceRecord]

  /// A page of the active devices that have a token, in the order of their numbers.
  func activeDevices(
    in appMode: AppMode, after: DeviceNumber?, limit: Int
  ) async throws(StorageError) -> [DeviceRecord]

  // MARK: Preferences

  func preferences(of user: UserID, in appMode: AppMode) async throws(StorageError) -> PreferenceSet

  /// Returns the whole set after the change.
  func setPreferences(_ change: PreferenceChange) async throws(StorageError) -> PreferenceSet

  // MARK: Sending

  /// One consistent read of users, preferences and devices (tokens opened) with the change sequence it belongs to.
  func snapshot(of users: [UserID], in appMode: AppMode) async throws(StorageError) -> AudienceSnapshot

  /// The next message number and its id. No I/O; a number that is never accepted leaves a gap.
  func reserveMessage(at now: WallTime) -> MessageIdentity

  /// The delivery's id, computed, opaque, reversible by this store only. No I/O.
  func deliveryID(for key: DeliveryKey) -> DeliveryID

  /// Message, decisions, deliveries, dedupe claims and, with `.marked`, marks: one commit or nothing. A claim whose
  /// user got no attempt for a reason that a later call can cure is not kept.
  func accept(_ acceptance: MessageAcceptance) async throws(StorageError) -> AcceptanceResult

  /// Looks at up to `limit` deliveries that wait and are due, the longest due first, and marks those that are to be
  /// sent. Those whose device has gone or changed hands since the decision, or whose user has switched the message's
  /// category off, end `suppressed` instead; those past their lifetime end `expired`.
  func claimQueued(limit: Int, at now: WallTime) async throws(StorageError) -> QueueClaim

  /// Marked deliveries without an outcome, for recovery after a crash: sent or not, nobody knows.
  func openMarks() async throws(StorageError) -> [OpenMark]

  /// One commit for the batch. A delivery that is terminal already keeps its first outcome; one that is `retrying`
  /// loses its mark and waits to be claimed. Token hygiene is decided from the device row as read in this transaction:
  ///
  /// - 410: deactivates iff its timestamp, or without one the attempt's start, is after `registeredAt`.
  /// - BadDeviceToken: deactivates only if an earlier 200 has shown the environment that was tried.
  /// - 200: the attempt's environment is learned.
  ///
  /// The mark goes in the commit that has its last outcome.
  func recordOutcomes(_ outcomes: [DeliveryOutcome]) async throws(StorageError) -> [OutcomeResult]

  /// One commit; results in the order of the events. `received` and `opened` revive an inactive device.
  func recordEvents(_ events: [DeviceEvent]) async throws(StorageError) -> [EventResult]

  // MARK: Reads

  func message(_ id: MessageID, in appMode: AppMode) async throws(StorageError) -> MessageRecord?

  /// In the order of acceptance.
  ///
  /// - Parameter user: whose; `nil`: everybody's.
  func deliveries(
    of message: MessageID, to user: UserID?, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord]

  /// Newest message first.
  func deliveries(
    to user: UserID, in appMode: AppMode, page: ListPage<DeliveryID>
  ) async throws(StorageError) -> [DeliveryRecord]

  func trace(of delivery: DeliveryID, in appMode: AppMode) async throws(StorageError) -> DeliveryTrace?

  func explanation(
    of message: MessageID, for user: UserID, in appMode: AppMode
  ) async throws(StorageError) -> UserExplanation?

  /// The messages that were addressed to the user by name, decisions included, newest first. One read for the whole
  /// page, which takes as many queries for many messages as for one.
  func messages(
    to user: UserID, in appMode: AppMode, page: ListPage<MessageID>
  ) async throws(StorageError) -> [MessageSummary]

  /// The newest message of a type that was addressed to the user by name.
  ///
  /// - Parameter among: how many of the newest are looked at.
  func newestMessage(
    of type: String, to user: UserID, among: Int, in appMode: AppMode
  ) async throws(StorageError) -> MessageIdentity?

  func counts(in appMode: AppMode) async throws(StorageError) -> StorageCounts

  /// How many devices there are of each platform and status; those with none are absent.
  func deviceCounts(in appMode: AppMode) async throws(StorageError) -> [DeviceCount]

  // MARK: Retention

  /// One bite of a pass over the whole store that removes what ``Retention`` no longer keeps. Begin at
  /// ``PrunePlace/start`` and go on at `next`. A message that is being removed is unseen from its first bite on, and
  /// its number is never given again.
  ///
  /// - Parameter limit: rows that one bite looks at or removes, give or take one message's few; it is one commit.
  func prune(from place: PrunePlace, limit: Int, at now: WallTime) async throws(StorageError) -> PruneStep
}
