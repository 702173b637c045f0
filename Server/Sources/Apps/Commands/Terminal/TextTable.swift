/// Rows for people, or for other programs.
package struct TextTable: Sendable {
  private let header: [String]
  private var rows: [[String]] = []

  package init(_ header: [String]) {
    self.header = header
  }

  package mutating func add(_ row: [String]) {
    rows.append(row)
  }

  package var isEmpty: Bool { rows.isEmpty }

  /// Aligned columns on a terminal, cut to its width; else tab-separated and whole.
  package func render(for terminal: Terminal) -> String {
    guard terminal.isTerminal else {
      return ([header] + rows).map { $0.map(Self.withoutBreaks).joined(separator: "\t") + "\n" }.joined()
    }
    let all = [header] + rows.map { $0.map(Self.withoutBreaks) }
    let widths = header.indices.map { column in all.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        guard column < row.count - 1 else { break }
        line += String(repeating: " ", count: widths[column] - DisplayWidth.of(cell) + 2)
      }
      return DisplayWidth.cut(line, to: terminal.width) + "\n"
    }.joined()
  }

  private static func withoutBreaks(_ cell: String) -> String {
    String(cell.map { $0 == "\t" || $0.isNewline ? " " : $0 })
  }
}
