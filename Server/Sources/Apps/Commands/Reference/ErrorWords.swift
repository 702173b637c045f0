import ServerAPI

/// The codes of errors that reach a person: from a command, the API, the stand-in or a connection.
///
/// Tests compare the table with the codes in the sources.
package enum ErrorWords {
  struct Row {
    let code: String
    let what: Sentence
    let advice: Sentence

    init(_ code: String, _ what: String, _ whatKorean: String, do advice: String, _ adviceKorean: String) {
      self.code = code
      self.what = Sentence(what, whatKorean)
      self.advice = Sentence(advice, adviceKorean)
    }
  }

  /// Codes that arise in one place and lie with one party.
  struct Family {
    let origin: Sentence
    let owner: ReasonOwner
    let rows: [Row]
  }

  package static let entries: [GlossaryEntry] = [
    input, credentials, certificates, sending, requests, callers, framing, things, states, standIn, connections, tls,
    store, start,
  ].flatMap(entries).sorted { $0.code < $1.code }

  private static func entries(_ family: Family) -> [GlossaryEntry] {
    family.rows.map { row in
      GlossaryEntry(
        code: row.code, kind: .error, status: nil, what: row.what, why: family.origin, owner: family.owner,
        advice: row.advice, related: [])
    }
  }
}
