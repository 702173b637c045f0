package import PabalModel
package import PabalPrimitives

/// One step of the way, as it is recorded. The detail holds no token, key or text.
package struct DecisionStep: Sendable, Equatable {
  package let step: PipelineStep
  package let result: StepResult
  package let detail: JSONValue

  init(_ step: PipelineStep, _ result: StepResult, _ detail: JSONValue = .null) {
    self.step = step
    self.result = result
    self.detail = detail
  }
}

/// What one user gets, device by device, and why.
package struct UserDecision: Sendable {
  package enum Plan: Sendable, Equatable {
    case send(RenderedPush)
    case leaveOut(ReasonCode)
  }

  package struct DevicePlan: Sendable {
    package let device: DeviceID
    package let plan: Plan
    package let steps: [DecisionStep]
  }

  package let user: UserID
  /// nil: at least one device gets it, or each left-out device has its own reason.
  package let reason: ReasonCode?
  package let steps: [DecisionStep]
  package let devices: [DevicePlan]
}
