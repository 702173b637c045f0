import PabalModel
import PabalPrimitives

/// Decides who gets a message: the steps of ``PipelineStep`` up to `pace`, in order, the first stop wins. Pure.
///
/// Steps that no rule is set up for are recorded as `not_configured`, never as `ok`. A user's steps end with the one
/// that stopped; each device then has its own `render` step.
package struct DecisionMaker: Sendable {
  /// Categories that are off until the user asks for them.
  package static let offByDefault: Set<String> = ["marketing"]

  private let renderer = PushRenderer()

  package init() {}

  /// What happens for one user of the request, with the steps that led there. The same input gives the same answer.
  package func decide(_ request: DecisionRequest, for candidate: Candidate) -> UserDecision {
    var steps: [DecisionStep] = []
    if let reason = stop(request, candidate, &steps) {
      return UserDecision(user: candidate.user, reason: reason, steps: steps, devices: [])
    }
    let devices = candidate.devices.filter { $0.isActive && $0.hasToken }.map { plan(request, $0) }
    return UserDecision(user: candidate.user, reason: nil, steps: steps, devices: devices)
  }

  /// Walks the user's steps; the reason of the one that stopped, if one did.
  private func stop(
    _ request: DecisionRequest, _ candidate: Candidate, _ steps: inout [DecisionStep]
  ) -> ReasonCode? {
    steps.append(
      DecisionStep(
        .authorise, .ok, ["requestId": .string(request.requestID), "source": .string(request.source)]))
    guard candidate.isKnown else {
      steps.append(DecisionStep(.audience, .stop, ["known": false]))
      return .userUnknown
    }
    steps.append(DecisionStep(.audience, .ok, ["addressed": "by name"]))
    if let excluded = excludedUser(request.content), UserID(rawValue: excluded) == candidate.user {
      steps.append(DecisionStep(.holdout, .stop, ["excluded": "the sender"]))
      return .excluded
    }
    steps.append(DecisionStep(.holdout, .notConfigured))
    if let reason = resolve(candidate, &steps) { return reason }
    if let reason = consent(request.content.type?.category, candidate, &steps) { return reason }
    if let type = request.content.type, request.content.dedupeKey != nil {
      steps.append(DecisionStep(.dedupe, .ok, ["windowSeconds": .int(type.dedupeWindow.components.seconds)]))
    } else {
      steps.append(DecisionStep(.dedupe, .notConfigured))
    }
    steps.append(DecisionStep(.quietHours, .notConfigured))
    steps.append(DecisionStep(.frequency, .notConfigured))
    return nil
  }

  private func excludedUser(_ content: PushContent) -> String? {
    content.type?.excludes.flatMap { content.data[$0] }?.text
  }

  private func resolve(_ candidate: Candidate, _ steps: inout [DecisionStep]) -> ReasonCode? {
    let active = candidate.devices.count { $0.isActive && $0.hasToken }
    let detail: JSONValue = [
      "active": .int(Int64(active)), "inactive": .int(Int64(candidate.devices.count - active)),
    ]
    steps.append(DecisionStep(.devices, active == 0 ? .stop : .ok, detail))
    return active == 0 ? .noDevices : nil
  }

  private func consent(
    _ category: String?, _ candidate: Candidate, _ steps: inout [DecisionStep]
  ) -> ReasonCode? {
    guard let category else {
      steps.append(DecisionStep(.consent, .notConfigured))
      return nil
    }
    let set = candidate.preferences[category]
    let isOn = set?.isOn ?? !Self.offByDefault.contains(category)
    let detail = JSONValue.compact([
      "category": .string(category), "value": .bool(isOn), "setAt": JSONValue(set?.setAt.rfc3339),
      "default": set == nil ? true : .null,
    ])
    steps.append(DecisionStep(.consent, isOn ? .ok : .stop, detail))
    return isOn ? nil : .preferenceOff
  }

  private func plan(_ request: DecisionRequest, _ device: Candidate.Device) -> UserDecision.DevicePlan {
    guard device.platform != .android else {
      return UserDecision.DevicePlan(
        device: device.id, plan: .leaveOut(.providerUnsupported),
        steps: [DecisionStep(.render, .stop, ["platform": .string(device.platform.rawValue)])])
    }
    let target = RenderTarget(
      identity: PushIdentity(message: request.message, delivery: device.delivery), locale: device.locale,
      hasServiceExtension: device.hasServiceExtension)
    do throws(RenderFailure) {
      let push = try renderer.render(request.content, for: target)
      let detail = JSONValue.compact([
        "locale": JSONValue(push.locale), "typeVersion": JSONValue(request.content.type?.version),
        "bytes": .int(Int64(push.payload.count)), "cut": push.isCut ? true : .null,
      ])
      return UserDecision.DevicePlan(
        device: device.id, plan: .send(push),
        steps: [DecisionStep(.render, .ok, detail), DecisionStep(.pace, .notConfigured)])
    } catch {
      return UserDecision.DevicePlan(
        device: device.id, plan: .leaveOut(error.reason), steps: [DecisionStep(.render, .stop, detail(of: error))])
    }
  }

  private func detail(of failure: RenderFailure) -> JSONValue {
    switch failure {
    case .variableMissing(let name): ["variable": .string(name)]
    case .tooLarge(let bytes): ["bytes": .int(Int64(bytes)), "limit": .int(Int64(NotificationLimits.payloadBytes))]
    }
  }
}
