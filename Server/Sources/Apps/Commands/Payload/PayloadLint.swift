import APNs
import ArgumentParsing
import PabalPrimitives

/// `pabal payload lint`: everything that is wrong with a payload, with its place.
enum PayloadLint {
  private static let json = OptionDefinition("json", .optionalValue("FIELDS"), "as an object")

  static let definition = CommandDefinition(
    "lint", summary: "check a payload against Apple's rules, with line and column",
    examples: [
      CommandExample("pabal payload lint push.json", "before a colleague finds out"),
      CommandExample("pabal payload lint call.json --push-type voip", "as another type than it looks like"),
    ],
    options: [PayloadSource.pushType, json], operands: [PayloadSource.file],
    notes: ["Exit code 0 when it can be sent (warnings may stand), 2 when it cannot."])

  static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitCode {
    let source = try PayloadSource(command)
    let report = PayloadReport(source)
    if command.isSet(json) {
      try context.show(object(report, source), command, json)
    } else {
      for problem in report.problems { context.output.line(problem.line(in: source.name)) }
      context.say(summary(report, context))
    }
    return report.errors == 0 ? .done : .usage
  }

  private static func summary(_ report: PayloadReport, _ context: CommandContext) -> String {
    let type = report.pushType?.rawValue
    let counted = { (count: Int, word: String) in "\(count) \(word)\(count == 1 ? "" : "s")" }
    let verdict = context.errorTerminal.mark(report.errors > 0 ? .bad : report.warnings > 0 ? .attention : .good)
    return context.text(
      en: "\(verdict) \(counted(report.errors, "error")), \(counted(report.warnings, "warning")); "
        + "\(report.bytes) of \(report.limit) bytes\(type.map { " as \($0)" } ?? "")",
      ko: "\(verdict) 오류 \(report.errors)개, 경고 \(report.warnings)개, "
        + "\(type.map { "\($0) 기준 " } ?? "")\(report.limit)바이트 중 \(report.bytes)바이트")
  }

  private static func object(_ report: PayloadReport, _ source: PayloadSource) -> JSONValue {
    [
      "object": "lint", "file": .string(source.name), "pushType": JSONValue(report.pushType?.rawValue),
      "bytes": JSONValue(report.bytes), "limit": JSONValue(report.limit), "errors": JSONValue(report.errors),
      "warnings": JSONValue(report.warnings), "problems": .array(report.problems.map(\.json)),
    ]
  }
}
