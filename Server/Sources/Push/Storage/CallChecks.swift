import PabalModel
import PabalPrimitives

/// What every conformer refuses before it touches anything.
extension MessageAcceptance {
  /// - Throws: `invalid_call` when it is too large or contradicts itself.
  package func check() throws(StorageError) {
    guard decisions.count <= StorageLimits.usersPerMessage else {
      throw StorageError(.invalidCall, "A message names at most \(StorageLimits.usersPerMessage) users.")
    }
    guard Set(decisions.map(\.user)).count == decisions.count else {
      throw StorageError(.invalidCall, "A message decides once for each user.")
    }
    guard Set(deliveries.map(\.device)).count == deliveries.count else {
      throw StorageError(.invalidCall, "A message has at most one delivery for each device.")
    }
    guard deliveries.allSatisfy({ delivery in decisions.contains { $0.user == delivery.user } }) else {
      throw StorageError(.invalidCall, "Each delivery belongs to a decided user.")
    }
  }

  /// Whether the user's dedupe claim is kept: something is sent, or the refusal is final.
  package func keepsClaim(of decision: AcceptedDecision) -> Bool {
    let own = deliveries.filter { $0.user == decision.user }
    if own.contains(where: { $0.push != nil }) { return true }
    if let reason = decision.reason { return !reason.releasesDedupeClaim }
    return !own.allSatisfy { $0.reason?.releasesDedupeClaim ?? false }
  }
}

extension [DeliveryOutcome] {
  /// - Throws: `invalid_call` for too many at once or a state that is not final.
  package func check() throws(StorageError) {
    guard count <= StorageLimits.outcomesPerCommit else {
      throw StorageError(.invalidCall, "One commit takes at most \(StorageLimits.outcomesPerCommit) outcomes.")
    }
    guard allSatisfy({ $0.retryAt == nil ? $0.state.isTerminal : $0.state == .retrying }) else {
      throw StorageError(.invalidCall, "An outcome is a terminal state, or retrying with a time.")
    }
  }
}

extension [DeviceEvent] {
  /// - Throws: `invalid_call` for too many at once.
  package func check() throws(StorageError) {
    guard count <= StorageLimits.eventsPerCall else {
      throw StorageError(.invalidCall, "One call takes at most \(StorageLimits.eventsPerCall) events.")
    }
  }
}
