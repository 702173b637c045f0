import APNs
import PabalModel
import ServerAPI
import Testing

/// What `pabal explain` can say.
@Suite struct ReasonWordsTests {
  /// Codes that stand for one thing in two spellings.
  private static let families: [Set<String>] = [["apns.BadEnvironmentKeyIdInToken", "apns.BadEnvironmentKeyInToken"]]

  @Test func everyReasonOfApplesHasWords() {
    let known = Set(ReasonSentence.known)
    for row in APNsReason.table { #expect(known.contains(.apns(row.reason.rawValue)), "\(row.reason.rawValue)") }
  }

  @Test func noTwoReasonsShareTheirRemedy() {
    for language in [\Sentence.english, \Sentence.korean] {
      var owners: [String: ReasonCode] = [:]
      for code in ReasonSentence.known {
        let advice = ReasonSentence.of(code).advice[keyPath: language]
        #expect(!advice.isEmpty)
        if let other = owners[advice] {
          let isFamily = Self.families.contains { $0.isSuperset(of: [code.rawValue, other.rawValue]) }
          #expect(isFamily, "\(code.rawValue) and \(other.rawValue): \(advice)")
        }
        owners[advice] = code
      }
    }
  }

  @Test func everyReasonHasAWhatAndAWhyInBothLanguages() {
    for code in ReasonSentence.known {
      for sentence in [ReasonSentence.of(code).what, ReasonSentence.why(code)] {
        #expect(!sentence.english.isEmpty && !sentence.korean.isEmpty)
        #expect(sentence.english != sentence.korean)
      }
    }
  }
}
