import PabalPrimitives
import ServerAPI

/// One thing that `pabal doctor` looked at.
struct DoctorCheck: Sendable {
  enum State: String, Sendable {
    case ok, warning, failed, skipped
  }

  /// Stable, for `--json`: `key_file`, `tls`.
  let name: String
  /// The host that it is about; `nil` for this machine.
  let place: String?
  let state: State
  let detail: Sentence
  /// What to do; `nil` when all is well.
  let advice: Sentence?

  init(_ name: String, at place: String? = nil, _ state: State, _ detail: Sentence, do advice: Sentence? = nil) {
    self.name = name
    self.place = place
    self.state = state
    self.detail = detail
    self.advice = advice
  }

  var json: JSONValue {
    [
      "check": .string(name), "place": JSONValue(place), "state": .string(state.rawValue),
      "detail": Self.both(detail), "do": advice.map(Self.both) ?? .null,
    ]
  }

  private static func both(_ sentence: Sentence) -> JSONValue {
    ["en": .string(sentence.english), "ko": .string(sentence.korean)]
  }
}

/// Prints checks as they are done, and counts them.
struct DoctorReport {
  private static let labelCells = 14

  private let context: CommandContext
  private let isQuiet: Bool
  private(set) var checks: [DoctorCheck] = []

  /// - Parameter isQuiet: nothing is printed before the object at the end.
  init(_ context: CommandContext, isQuiet: Bool) {
    self.context = context
    self.isQuiet = isQuiet
  }

  var failures: Int { checks.count { $0.state == .failed } }
  var warnings: Int { checks.count { $0.state == .warning } }

  mutating func add(_ check: DoctorCheck) {
    checks.append(check)
    guard !isQuiet else { return }
    let terminal = context.outputTerminal
    let mark =
      switch check.state {
      case .ok: terminal.mark(.good)
      case .warning: terminal.mark(.attention)
      case .failed: terminal.mark(.bad)
      case .skipped: "-"
      }
    let label = check.name.split(separator: "_").joined(separator: " ")
    let gap = String(repeating: " ", count: max(1, Self.labelCells - label.count))
    let place = check.place.map { "\($0): " } ?? ""
    context.output.line("\(mark) \(label)\(gap)\(place)\(context.text(check.detail))")
    if let advice = check.advice {
      context.output.line("    \(terminal.hasUnicode ? "→" : "->") \(context.text(advice))")
    }
  }

  var summary: String {
    context.text(
      en: "\(failures) failed, \(warnings) warnings", ko: "실패 \(failures)개, 경고 \(warnings)개")
  }

  var json: JSONValue {
    [
      "object": "doctor", "checks": .array(checks.map(\.json)), "failures": JSONValue(failures),
      "warnings": JSONValue(warnings),
    ]
  }
}
