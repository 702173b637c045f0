import ArgumentParsing
import PabalModel
import PabalPrimitives

/// Where the outcomes of a run go: objects for programs, a table for people, tab-separated lines for a pipe.
struct SendReport {
  /// Lines that did not end accepted, shown on a terminal at most; the summary counts all.
  private static let shownLines = 20

  private let context: CommandContext
  private let isJSON: Bool
  private let fields: JSONFields?
  private let isSingle: Bool
  private var table = TextTable(["LINE", "DEVICE", "STATE", "STATUS", "REASON", "MS"])
  private var hidden = 0
  private var buffer: [UInt8] = []

  init(_ command: ParsedCommand, _ context: CommandContext, total: Int) throws(UsageError) {
    self.context = context
    isJSON = command.isSet(SendOptions.json)
    fields = try command.value(SendOptions.json).map(JSONFields.init)
    isSingle = total == 1
  }

  mutating func add(_ line: OutcomeLine) {
    if isJSON {
      if let fields {
        var whole: [UInt8] = []
        line.appendJSON(to: &whole)
        buffer += fields.pick(from: whole)
      } else {
        line.appendJSON(to: &buffer)
      }
      buffer.append(UInt8(ascii: "\n"))
    } else if !context.outputTerminal.isTerminal {
      buffer += Array((row(line).joined(separator: "\t") + "\n").utf8)
    } else if line.state != .accepted || isSingle {
      if isSingle { return show(line) }
      guard hidden == 0, shown < Self.shownLines else {
        hidden += 1
        return
      }
      shown += 1
      table.add(row(line))
    }
  }
  private var shown = 0

  /// Hands over what was added since the last call.
  mutating func flush() {
    guard !buffer.isEmpty else { return }
    context.output.append(buffer)
    context.output.flush()
    buffer.removeAll(keepingCapacity: true)
  }

  mutating func finish(_ summary: SendSummary) {
    flush()
    if isJSON {
      // Whole, whatever fields were asked for: it is the last line and says so by its member `object`.
      context.output.line(summary.json.encodedText)
      return
    }
    if !table.isEmpty { context.output.text(table.render(for: context.outputTerminal)) }
    if hidden > 0 { context.say("… and \(hidden) more lines that were not accepted; --json shows all.") }
    guard summary.total > 1 || !context.outputTerminal.isTerminal else { return }
    context.say(sentence(summary))
    for (reason, count) in summary.sortedReasons.prefix(5) {
      context.say("  \(count) × \(reason.rawValue)   (pabal explain \(reason.rawValue))")
    }
  }

  private func sentence(_ summary: SendSummary) -> String {
    let states = SendSummary.shown.compactMap { state in
      summary.states[state].map { "\($0) \(state.rawValue)" }
    }
    return "\(summary.total) pushes in \(summary.seconds) s: \(states.joined(separator: ", "))"
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
    if let id = line.apnsID { parts.append(id) }
    context.output.line(parts.joined(separator: "   "))
    if let reason = line.reason { context.say("pabal explain \(reason.rawValue) says what to do.") }
  }
}
