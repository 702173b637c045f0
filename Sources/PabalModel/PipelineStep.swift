/// The way of every push, in order; a trace and `why` walk through it.
public enum PipelineStep: String, Sendable, Hashable, CaseIterable {
  case authorise, audience, holdout, devices, consent, dedupe, quietHours, frequency, render, pace, attempt, outcome
  case reports
}

/// How one step went. Open, because providers and policies add words.
public struct StepResult: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static let ok = StepResult(rawValue: "ok")
  /// The way ended here.
  public static let stop = StepResult(rawValue: "stop")
  /// No rule of this kind is set up, so nothing was decided; never shown as `ok`.
  public static let notConfigured = StepResult(rawValue: "not_configured")
  public static let notReached = StepResult(rawValue: "not_reached")
  /// A change was made, for example a device deactivated.
  public static let applied = StepResult(rawValue: "applied")
  public static let accepted = StepResult(rawValue: "accepted")
  public static let rejected = StepResult(rawValue: "rejected")
  public static let unknown = StepResult(rawValue: "unknown")
}
