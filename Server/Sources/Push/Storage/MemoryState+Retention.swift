import PabalModel
import PabalPrimitives

extension MemoryState {
  mutating func prune(from place: PrunePlace, limit: Int, at now: WallTime) -> PruneStep {
    switch place {
    case .messages(let acceptedAt, let number): pruneMessages(after: (acceptedAt, number), limit: limit, at: now)
    case .claims: pruneClaims(limit: limit, at: now)
    case .devices: pruneDevices(limit: limit, at: now)
    }
  }

  private mutating func pruneMessages(
    after place: (at: WallTime, number: MessageNumber), limit: Int, at now: WallTime
  ) -> PruneStep {
    let horizon = now.advanced(by: .zero - Retention.message)
    let old = messages.values.map(\.acceptance)
      .filter { $0.createdAt <= horizon && ($0.createdAt, $0.identity.number) > place }
      .sorted { ($0.createdAt, $0.identity.number) < ($1.createdAt, $1.identity.number) }
    var step = PruneStep(next: .claims)
    for message in old.prefix(limit) {
      if isOver(message, horizon: horizon, at: now) { step.messages += remove(message) }
    }
    if old.count > limit, let last = old.prefix(limit).last {
      step.next = .messages(acceptedAt: last.createdAt, number: last.identity.number)
    }
    return step
  }

  private func isOver(_ message: MessageAcceptance, horizon: WallTime, at now: WallTime) -> Bool {
    let isEnded = deliveries(of: message).allSatisfy { $0.record.state.isTerminal && $0.record.updatedAt <= horizon }
    return isEnded && !claims.values.contains { $0.message == message.identity.number && $0.until >= now }
  }

  private mutating func remove(_ message: MessageAcceptance) -> Int {
    for key in deliveryOrder.removeValue(forKey: message.identity.number) ?? [] { deliveries[key] = nil }
    return messages.removeValue(forKey: message.identity.number) == nil ? 0 : 1
  }

  private mutating func pruneClaims(limit: Int, at now: WallTime) -> PruneStep {
    let over = claims.filter { $0.value.until < now }.keys.prefix(limit)
    for key in over { claims[key] = nil }
    return PruneStep(claims: over.count, next: over.count < limit ? .devices : .claims)
  }

  private mutating func pruneDevices(limit: Int, at now: WallTime) -> PruneStep {
    let horizon = now.advanced(by: .zero - Retention.inactiveDevice)
    let dead = devices.values.filter { device in
      device.record.status == .inactive && device.record.inactiveSince.map { $0 <= horizon } ?? false
    }.prefix(limit)
    for device in dead {
      devices[device.record.number] = nil
      noteChange(of: device.record.user, in: device.appMode)
    }
    return PruneStep(devices: dead.count, next: dead.count < limit ? nil : .devices)
  }
}
