/// The known word that a misspelt one most likely stands for.
package enum NearestWord {
  /// `nil` when none is closer than a third of its letters (at least two changes are allowed).
  package static func find(_ word: String, among known: [String]) -> String? {
    let best = known.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    guard let (candidate, changes) = best, changes <= max(2, candidate.count / 3) else { return nil }
    return changes < candidate.count ? candidate : nil
  }

  /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
  static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left)
    let b = Array(right)
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    for i in 1...a.count {
      for j in 1...b.count {
        let substitution = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, substitution)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
        }
      }
    }
    return rows[a.count][b.count]
  }
}
