package import PabalModel

/// What a journal says about the lines of a list.
package struct JournalState: Sendable, Equatable {
  package struct Ending: Hashable, Sendable {
    package let state: DeliveryState
    package let reason: ReasonCode?

    package init(state: DeliveryState, reason: ReasonCode?) {
      self.state = state
      self.reason = reason
    }
  }

  /// Lines that have an outcome for good.
  package private(set) var ended = LineSet()
  /// Lines that were handed to the engine and have none.
  package private(set) var handedOver = LineSet()
  package private(set) var counts: [Ending: Int] = [:]
  /// Those of the ended lines whose fate nobody knows; a later run may send them again.
  private var unknown: [Ending: LineSet] = [:]

  package init() {}

  package mutating func handOver(_ lines: ClosedRange<Int>) {
    for line in lines where !ended.contains(line) { handedOver.insert(line) }
  }

  /// A canceled line was never written: it is as it was before. What ended `unknown` may end once more, after a repeat.
  package mutating func end(_ lines: ClosedRange<Int>, _ ending: Ending) {
    for line in lines {
      handedOver.remove(line)
      guard ending.state != .canceled else { continue }
      if !ended.insert(line) {
        guard let earlier = unknown.keys.first(where: { unknown[$0]?.contains(line) == true }) else { continue }
        unknown[earlier]?.remove(line)
        counts[earlier, default: 0] -= 1
      }
      counts[ending, default: 0] += 1
      if ending.state == .unknown { unknown[ending, default: LineSet()].insert(line) }
    }
  }

  /// Lines that ended `unknown` are taken for handed over and without an outcome, so that they can be sent again.
  ///
  /// - Parameter last: the list's last line.
  package mutating func reopenUnknown(last: Int) {
    for (ending, lines) in unknown {
      for line in 1...max(1, last) where lines.contains(line) {
        ended.remove(line)
        handedOver.insert(line)
      }
      counts[ending] = nil
    }
    unknown = [:]
  }
}

/// The lines of a journal's text, one record each.
package enum JournalRecord: Equatable, Sendable {
  case handedOver([ClosedRange<Int>])
  case ended([ClosedRange<Int>], JournalState.Ending)

  /// `nil` for anything else.
  package init?(_ line: Substring, last: Int) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    if words.count == 2, words[0] == "sent", let ranges = LineRanges.parse(words[1], last: last) {
      self = .handedOver(ranges)
      return
    }
    guard words.count == 4, words[0] == "end", let state = DeliveryState(rawValue: String(words[1])),
      let ranges = LineRanges.parse(words[3], last: last)
    else { return nil }
    let reason = words[2] == "-" ? nil : ReasonCode(rawValue: String(words[2]))
    self = .ended(ranges, JournalState.Ending(state: state, reason: reason))
  }

  /// `sent 1-256`
  package static func appendHandedOver(_ lines: [Int], to bytes: inout [UInt8]) {
    guard !lines.isEmpty else { return }
    bytes.append(contentsOf: "sent ".utf8)
    LineRanges.append(lines, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// `end accepted - 1-12,14`, one record for each way to end.
  package static func appendEnded(_ lines: [(line: Int, ending: JournalState.Ending)], to bytes: inout [UInt8]) {
    var groups: [JournalState.Ending: [Int]] = [:]
    for (line, ending) in lines { groups[ending, default: []].append(line) }
    for (ending, lines) in groups {
      bytes.append(contentsOf: "end \(ending.state.rawValue) \(word(ending.reason)) ".utf8)
      LineRanges.append(lines.sorted(), to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  /// A reason that a provider made up may hold anything.
  private static func word(_ reason: ReasonCode?) -> String {
    guard let reason, !reason.rawValue.isEmpty else { return "-" }
    return String(
      reason.rawValue.map { character in
        character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character)) ? character : "_"
      })
  }
}
