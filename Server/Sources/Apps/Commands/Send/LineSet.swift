/// A set of line numbers, one bit each.
package struct LineSet: Sendable, Equatable {
  private var words: [UInt64] = []
  package private(set) var count = 0

  package init() {}

  package func contains(_ line: Int) -> Bool {
    let word = line >> 6
    return word < words.count && words[word] & (1 << UInt64(line & 63)) != 0
  }

  /// - Returns: whether the line is new.
  @discardableResult
  package mutating func insert(_ line: Int) -> Bool {
    let word = line >> 6
    while words.count <= word { words.append(0) }
    let bit: UInt64 = 1 << UInt64(line & 63)
    guard words[word] & bit == 0 else { return false }
    words[word] |= bit
    count += 1
    return true
  }

  package mutating func remove(_ line: Int) {
    guard contains(line) else { return }
    words[line >> 6] &= ~(1 << UInt64(line & 63))
    count -= 1
  }
}

/// Line numbers as text: `1-300,302,304-512`.
package enum LineRanges {
  /// - Parameter lines: in rising order, each once.
  package static func append(_ lines: [Int], to bytes: inout [UInt8]) {
    var index = 0
    while index < lines.count {
      var end = index
      while end + 1 < lines.count, lines[end + 1] == lines[end] + 1 { end += 1 }
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: String(lines[index]).utf8)
      if end > index {
        bytes.append(UInt8(ascii: "-"))
        bytes.append(contentsOf: String(lines[end]).utf8)
      }
      index = end + 1
    }
  }

  /// `nil` unless the text is ranges of lines from 1 to `last`.
  package static func parse(_ text: Substring, last: Int) -> [ClosedRange<Int>]? {
    var ranges: [ClosedRange<Int>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count <= 2, let first = Int(ends[0]), let end = Int(ends[ends.count - 1]), first >= 1, first <= end,
        end <= last
      else { return nil }
      ranges.append(first...end)
    }
    return ranges
  }
}
