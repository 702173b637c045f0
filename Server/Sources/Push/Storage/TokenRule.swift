package import PabalModel
package import PabalPrimitives

extension TokenHygiene {
  /// What an outcome does to the device that it was meant for.
  ///
  /// - Parameter device: the row as read in the transaction that records the outcome.
  package static func decide(after outcome: DeliveryOutcome, on device: DeviceRecord) -> TokenHygiene {
    guard let attempt = outcome.attempts.last, let status = attempt.status else { return .none }
    if status == 200 {
      guard device.token == outcome.token else { return .none }
      let isKnown = device.environmentIsLearned && device.environment == attempt.environment
      return isKnown ? .none : .environmentLearned(attempt.environment)
    }
    let isBadToken = attempt.reason == "BadDeviceToken"
    guard status == 410 || isBadToken, device.status == .active else { return .none }
    guard device.token == outcome.token else { return .keptTokenReplaced }
    if status == 410 {
      let deadSince = attempt.tokenDeadSince ?? attempt.startedAt
      return deadSince > device.registeredAt ? .deactivated(.apns(attempt.reason ?? "Unregistered")) : .keptReregistered
    }
    guard device.environmentIsLearned, device.environment == attempt.environment else {
      return .keptEnvironmentUnknown
    }
    return .deactivated(.apns("BadDeviceToken"))
  }

  /// The line that a trace shows, `nil` when nothing was decided.
  package func step(at time: WallTime) -> TraceStep? {
    let detail: JSONValue
    switch self {
    case .none: return nil
    case .environmentLearned(let environment):
      detail = ["device": "environment_learned", "environment": .string(environment.rawValue)]
    case .deactivated(let reason): detail = ["device": "deactivated", "because": .string(reason.rawValue)]
    case .keptReregistered: detail = ["device": "kept", "because": "registered_after_it_was_reported_dead"]
    case .keptEnvironmentUnknown: detail = ["device": "kept", "because": "environment_not_learned"]
    case .keptTokenReplaced: detail = ["device": "kept", "because": "token_replaced_meanwhile"]
    }
    return TraceStep(at: time, step: .outcome, result: .applied, detail: detail)
  }
}

extension ReasonCode {
  /// A later call with the same dedupe key may cure it, so a user who got no attempt for it keeps no claim.
  package var releasesDedupeClaim: Bool {
    self == .noDevices || self == .userUnknown || self == .credentialMissing || self == .payloadInvalid
      || rawValue.hasPrefix("device_")
  }
}

extension DeviceEvent {
  /// The device's clock is a claim: the report lies between 5 minutes before the acceptance and now.
  package func clampedTime(acceptedAt: WallTime) -> WallTime {
    max(min(at, receivedAt), acceptedAt.advanced(by: .seconds(-300)))
  }

  /// What is told of the first report that the user opened it.
  package func opening(acceptedAt: WallTime, frequencyClass: String) -> FirstOpening {
    FirstOpening(
      frequencyClass: frequencyClass, acceptedAt: acceptedAt, openedAt: clampedTime(acceptedAt: acceptedAt))
  }

  /// The app lives, so its token does.
  package var revivesDevice: Bool { kind == .received || kind == .opened }
}
