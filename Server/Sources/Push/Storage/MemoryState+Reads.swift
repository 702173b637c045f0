import PabalModel

extension MemoryState {
  func message(_ id: MessageID, in appMode: AppMode) -> MessageAcceptance? {
    messages.values.lazy.map(\.acceptance).first { $0.identity.id == id && $0.appMode == appMode }
  }

  func record(of message: MessageAcceptance) -> MessageRecord {
    let counts = Dictionary(deliveries(of: message).map { ($0.record.state, 1) }, uniquingKeysWith: +)
    return MessageRecord(
      identity: message.identity, type: message.type, typeVersion: message.typeVersion, category: message.category,
      frequencyClass: message.frequencyClass, source: message.source, requestID: message.requestID,
      content: message.content, createdAt: message.createdAt, lifetime: message.lifetime,
      decisions: message.decisions.map { DecisionRecord(user: $0.user, reason: $0.reason, steps: $0.steps) },
      counts: counts)
  }

  func deliveries(of message: MessageAcceptance) -> [DeliveryRow] {
    (deliveryOrder[message.identity.number] ?? []).compactMap { deliveries[$0] }
  }

  func deliveries(to user: UserID, in appMode: AppMode) -> [DeliveryRecord] {
    let own = messages.values.map(\.acceptance).filter { $0.appMode == appMode }
      .sorted { $0.identity.number > $1.identity.number }
    return own.flatMap { message in
      deliveries(of: message).map(\.record).filter { $0.user == user }.sorted { $0.key.device < $1.key.device }
    }
  }

  func messages(to user: UserID, in appMode: AppMode) -> [MessageIdentity] {
    let own = messages.values.map(\.acceptance).filter { message in
      message.appMode == appMode && message.decisions.contains { $0.user == user }
    }
    return own.map(\.identity).sorted { $0.number > $1.number }
  }

  func trace(of id: DeliveryID, in appMode: AppMode) -> DeliveryTrace? {
    guard let key = Self.key(of: id), let delivery = deliveries[key],
      let message = messages[key.message]?.acceptance, message.appMode == appMode
    else { return nil }
    let decision = message.decisions.first { $0.user == delivery.record.user }
    return DeliveryTrace(
      delivery: delivery.record, decided: (decision?.steps ?? []) + delivery.decided, concluded: delivery.concluded)
  }

  func explanation(of id: MessageID, for user: UserID, in appMode: AppMode) -> UserExplanation? {
    guard let message = message(id, in: appMode) else { return nil }
    let record = record(of: message)
    let own = deliveries(of: message).filter { $0.record.user == user }
    return UserExplanation(
      message: record, decision: record.decisions.first { $0.user == user },
      traces: own.compactMap { trace(of: $0.record.id, in: appMode) })
  }

  func newestMessage(of type: String, to user: UserID, among: Int, in appMode: AppMode) -> MessageIdentity? {
    messages(to: user, in: appMode).prefix(among).first { self.messages[$0.number]?.acceptance.type == type }
  }

  func deviceCounts(in appMode: AppMode) -> [DeviceCount] {
    Dictionary(grouping: devices(in: appMode)) { DeviceCount(platform: $0.platform, status: $0.status, count: 0) }
      .map { DeviceCount(platform: $0.key.platform, status: $0.key.status, count: $0.value.count) }
  }

  func counts(in appMode: AppMode) -> StorageCounts {
    let own = devices(in: appMode)
    let sent = messages.values.map(\.acceptance).filter { $0.appMode == appMode }
    let states = sent.flatMap { deliveries(of: $0).map { ($0.record.state, 1) } }
    return StorageCounts(
      users: users.keys.count { $0.appMode == appMode }, activeDevices: own.count { $0.status == .active },
      inactiveDevices: own.count { $0.status == .inactive }, messages: sent.count,
      deliveries: Dictionary(states, uniquingKeysWith: +))
  }
}
