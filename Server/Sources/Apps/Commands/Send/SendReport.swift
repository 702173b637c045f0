import APNs
import ArgumentParsing
import PabalModel
import PabalPrimitives

/// Where the outcomes of a run go: objects for programs, a table for people, tab-separated lines for a pipe; and what
/// they add up to.
struct SendReport: Sendable {
  /// Lines that did not end accepted, shown on a terminal at most; the summary counts all.
  private static let shownLines = 20
  /// Written out when so much has gathered, so that the buffer stays small whatever comes at once.
  private static let bufferBytes = 65_536

  private let context: CommandContext
  private let isJSON: Bool
  private let fields: [OutcomeField]
  private let isSingle: Bool
  private let isQuiet: Bool
  private var table = TextTable(["LINE", "DEVICE", "STATE", "STATUS", "REASON", "MS"])
  private var shown = 0
  private var hidden = 0
  private var buffer: [UInt8] = []
  /// Shared with who else talks while the run goes on.
  let progress: SendProgressLine
  private(set) var summary = SendSummary()

  init(_ command: ParsedCommand, _ context: CommandContext, list: DeviceList) throws(UsageError) {
    self.context = context
    isJSON = command.isSet(SendOptions.json)
    isQuiet = command.isSet(SendOptions.quiet)
    fields = try Self.fields(command)
    isSingle = list.isSingle
    progress = SendProgressLine(
      SendProgress(
        style: Self.style(context, isQuiet: isQuiet), total: list.count, started: context.clock.monotonic()),
      errors: context.errors, clock: context.clock)
    summary.duplicates = list.duplicates
  }

  /// Names that an outcome never has are left out, as members that it does not have are.
  private static func fields(_ command: ParsedCommand) throws(UsageError) -> [OutcomeField] {
    guard let text = command.value(SendOptions.json) else { return OutcomeField.allCases }
    return try JSONFields(text).names.compactMap(OutcomeField.init)
  }

  private static func style(_ context: CommandContext, isQuiet: Bool) -> SendProgress.Style {
    guard !isQuiet else { return .none }
    let terminal = context.errorTerminal
    guard terminal.canRedraw else { return .log }
    return .bar(width: terminal.width, hasUnicode: terminal.hasUnicode)
  }

  mutating func countEarlier(_ found: JournalState) {
    summary.count(found)
  }

  mutating func add(_ lines: [OutcomeLine]) {
    for line in lines {
      summary.count(line)
      write(line)
    }
    flush()
    progress.update(done: summary.total, rejected: summary.states[.rejected] ?? 0)
  }

  private mutating func write(_ line: OutcomeLine) {
    if isJSON {
      line.appendJSON(fields, to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
    } else if !context.outputTerminal.isTerminal {
      buffer += Array((row(line).joined(separator: "\t") + "\n").utf8)
    } else if isSingle {
      show(line)
    } else if line.state != .accepted {
      guard hidden == 0, shown < Self.shownLines else {
        hidden += 1
        return
      }
      shown += 1
      table.add(row(line))
    }
    if buffer.count >= Self.bufferBytes { flush() }
  }

  /// Hands over what was added since the last call.
  private mutating func flush() {
    guard !buffer.isEmpty else { return }
    context.output.append(buffer)
    context.output.flush()
    buffer.removeAll(keepingCapacity: true)
  }

  /// The last line, or the last words.
  mutating func finish(_ complete: (inout SendSummary) -> Void) -> SendSummary {
    complete(&summary)
    progress.clear()
    if isJSON {
      // Whole, whatever fields were asked for: it is the last line and says so by its member `object`.
      context.output.line(summary.json.encodedText)
      return summary
    }
    if !table.isEmpty { context.output.text(table.render(for: context.outputTerminal)) }
    guard !isQuiet else { return summary }
    if hidden > 0 { context.say("… and \(hidden) more lines that were not accepted; --json shows all.") }
    guard summary.total > 1 || !context.outputTerminal.isTerminal else { return summary }
    context.say(sentence(summary))
    for (reason, count) in summary.sortedReasons.prefix(5) {
      context.say("  \(count) × \(reason.rawValue)   (pabal explain \(reason.rawValue))")
    }
    return summary
  }

  private func sentence(_ summary: SendSummary) -> String {
    let states = SendSummary.shown.compactMap { state in
      summary.states[state].map { "\($0) \(state.rawValue)" }
    }
    let earlier = summary.earlier > 0 ? ", \(summary.earlier) of them in earlier runs" : ""
    let pushes = summary.total == 1 ? "1 push" : "\(summary.total) pushes"
    return "\(pushes) in \(summary.seconds) s: \(states.joined(separator: ", "))\(earlier)"
  }

  private func row(_ line: OutcomeLine) -> [String] {
    [
      String(line.line), line.device?.redacted ?? "-", line.state.rawValue, line.status.map(String.init) ?? "-",
      line.reason?.rawValue ?? "-", line.milliseconds,
    ]
  }

  private func show(_ line: OutcomeLine) {
    let terminal = context.outputTerminal
    let mark: Terminal.Mark = line.state == .accepted ? .good : line.state == .rejected ? .bad : .attention
    var parts = ["\(terminal.mark(mark)) \(line.state.rawValue)", line.device?.redacted ?? "-"]
    if let reason = line.reason { parts.append(reason.rawValue) }
    if line.attempts > 0 { parts.append("\(line.milliseconds) ms") }
    if let id = line.apnsID { parts.append(id.description) }
    context.output.line(parts.joined(separator: "   "))
    if let reason = line.reason, !isQuiet { context.say("pabal explain \(reason.rawValue) says what to do.") }
  }
}
