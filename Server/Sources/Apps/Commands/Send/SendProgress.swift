package import PabalPrimitives

/// How far a run is, in one line: a bar for a terminal, words for a log.
package struct SendProgress: Sendable {
  package enum Style: Sendable {
    /// Redrawn in place.
    case bar(width: Int, hasUnicode: Bool)
    /// A new line now and then.
    case log
    case none
  }

  /// A run shorter than this needs no bar.
  private static let patience = Duration.seconds(1)
  private static let redraw = Duration.milliseconds(200)
  private static let logInterval = Duration.seconds(10)
  private static let barCells = 25

  private let style: Style
  private let total: Int?
  private let started: Instant
  private var shownAt: Instant
  private var shownDone = 0
  private var isBarShown = false

  package init(style: Style, total: Int?, started: Instant) {
    self.style = style
    self.total = total
    self.started = started
    shownAt = started
  }

  /// What to write to standard error now, or nothing.
  ///
  /// - Parameter wall: for the time of day in a log line.
  package mutating func update(done: Int, rejected: Int, now: Instant, wall: WallTime) -> String? {
    guard started.duration(to: now) >= Self.patience else { return nil }
    let since = shownAt.duration(to: now)
    switch style {
    case .none: return nil
    case .bar(let width, let hasUnicode):
      guard !isBarShown || since >= Self.redraw else { return nil }
      isBarShown = true
      note(done, now)
      let bar = Self.bar(
        done: done, total: total, rejected: rejected, elapsed: started.duration(to: now), width: width,
        hasUnicode: hasUnicode)
      return "\r" + bar + "\u{1B}[K"
    case .log:
      let isTenth = total.map { $0 > 0 && (done - shownDone) * 10 >= $0 && since >= Self.patience } ?? false
      guard isTenth || since >= Self.logInterval else { return nil }
      note(done, now)
      return Self.log(
        done: done, total: total, rejected: rejected, elapsed: started.duration(to: now), wall: wall) + "\n"
    }
  }

  /// Takes the bar away, for what comes after it.
  package mutating func finish() -> String? {
    guard isBarShown else { return nil }
    isBarShown = false
    return "\r\u{1B}[K"
  }

  private mutating func note(_ done: Int, _ now: Instant) {
    shownDone = done
    shownAt = now
  }

  /// ` sending  ████▌░░░░  82 %  790,116/963,556  19,940/s  ETA 9 s   rejected 3,310`
  package static func bar(
    done: Int, total: Int?, rejected: Int, elapsed: Duration, width: Int, hasUnicode: Bool
  ) -> String {
    let rate = rate(done, elapsed)
    var parts = [" sending"]
    if let total, total > 0 {
      parts.append(cells(done: done, total: total, hasUnicode: hasUnicode))
      parts.append("\(min(100, done * 100 / total)) %")
      parts.append("\(grouped(done))/\(grouped(total))")
      parts.append("\(grouped(rate))/s")
      if rate > 0, done < total { parts.append("ETA " + words(seconds: (total - done + rate - 1) / rate)) }
    } else {
      parts.append(grouped(done))
      parts.append("\(grouped(rate))/s")
    }
    if rejected > 0 { parts.append(" rejected \(grouped(rejected))") }
    return DisplayWidth.cut(parts.joined(separator: "  "), to: max(1, width - 1))
  }

  /// `10:00:12 sending 210000/963556 rate=20010 rejected=881`
  package static func log(done: Int, total: Int?, rejected: Int, elapsed: Duration, wall: WallTime) -> String {
    let time = wall.rfc3339
    let day = time.dropFirst(11).prefix(8)
    let of = total.map { "/\($0)" } ?? ""
    return "\(day) sending \(done)\(of) rate=\(rate(done, elapsed)) rejected=\(rejected)"
  }

  private static func rate(_ done: Int, _ elapsed: Duration) -> Int {
    let milliseconds = Int(elapsed.milliseconds)
    return milliseconds > 0 ? done * 1000 / milliseconds : 0
  }

  private static func cells(done: Int, total: Int, hasUnicode: Bool) -> String {
    let halves = min(2 * barCells, done * 2 * barCells / total)
    guard hasUnicode else {
      return "[" + String(repeating: "#", count: halves / 2)
        + String(repeating: ".", count: barCells - halves / 2) + "]"
    }
    let half = halves % 2 == 1 ? "▌" : ""
    return String(repeating: "█", count: halves / 2) + half
      + String(repeating: "░", count: barCells - halves / 2 - halves % 2)
  }

  /// `963,556`
  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return String(
      digits.indices.flatMap { index -> [Character] in
        let isBreak = index > 0 && (digits.count - index) % 3 == 0
        return isBreak ? [",", digits[index]] : [digits[index]]
      })
  }

  private static func words(seconds: Int) -> String {
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
  }
}
