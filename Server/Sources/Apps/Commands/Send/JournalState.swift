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

  package init() {}

  package mutating func handOver(_ lines: ClosedRange<Int>) {
    for line in lines where !ended.contains(line) { handedOver.insert(line) }
  }

  /// A canceled line was never written: it is as it was before.
  package mutating func end(_ lines: ClosedRange<Int>, _ ending: Ending) {
    for line in lines {
      handedOver.remove(line)
      guard ending.state != .canceled, ended.insert(line) else { continue }
      counts[ending, default: 0] += 1
    }
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
