import APNs
import ArgumentParsing
import PabalModel
import ServerAPI

/// Every word that outcomes, traces and errors use.
package enum Glossary {
  /// Reasons first, then statuses, then the codes of errors; each in the order of the alphabet.
  package static let all: [GlossaryEntry] = reasons + statuses + ErrorWords.entries

  package static let reasons: [GlossaryEntry] = ReasonSentence.known.map(reason)

  package static let statuses: [GlossaryEntry] = StatusWords.rows.map { row in
    GlossaryEntry(
      code: String(row.status), kind: .status, status: row.status, what: row.what, why: row.why, owner: row.owner,
      advice: row.advice,
      related: APNsReason.table.filter { $0.status == row.status }.map { "apns.\($0.reason.rawValue)" })
  }

  /// The entry for a word as people have it: `apns.Unregistered`, Apple's own `Unregistered`, `410`, `apns.410`, in
  /// any case of letters.
  package static func find(_ word: String) -> GlossaryEntry? {
    let wanted = [word, "apns.\(word)", word.hasPrefix("apns.") ? String(word.dropFirst(5)) : word]
    if let exact = all.first(where: { wanted.contains($0.code) }) { return exact }
    let lowered = wanted.map { $0.lowercased() }
    return all.first { lowered.contains($0.code.lowercased()) }
  }

  package static func nearest(to word: String) -> String? {
    let names = all.map(\.code)
    return NearestWord.find(word, among: names) ?? NearestWord.find("apns." + word, among: names)
  }

  private static func reason(_ code: ReasonCode) -> GlossaryEntry {
    let words = ReasonSentence.of(code)
    let status = code.apnsReason.flatMap { word in APNsReason.table.first { $0.reason.rawValue == word }?.status }
    return GlossaryEntry(
      code: code.rawValue, kind: .reason, status: status, what: words.what, why: ReasonSentence.why(code),
      owner: ReasonOwner.of(code), advice: words.advice, related: [])
  }
}
