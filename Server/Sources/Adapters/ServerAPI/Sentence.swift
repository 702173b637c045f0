package import PabalModel

/// One thing said in both languages of the product.
package struct Sentence: Sendable, Hashable {
  package let english: String
  package let korean: String

  package init(_ english: String, _ korean: String) {
    self.english = english
    self.korean = korean
  }
}

/// What a reason code means to a person: a sentence for each code that can occur, and one for those of the provider
/// that we have no words for.
package struct ReasonSentence: Sendable {
  package let what: Sentence
  /// What to do about it.
  package let advice: Sentence

  init(_ what: Sentence, do advice: Sentence) {
    self.what = what
    self.advice = advice
  }

  package static func of(_ reason: ReasonCode) -> ReasonSentence {
    if let known = table[reason.rawValue] { return known }
    let word = reason.apnsReason ?? reason.rawValue
    return ReasonSentence(
      Sentence("Apple refused it: \(word).", "Apple이 거부했습니다: \(word)."),
      do: Sentence(
        "Look the word up in Apple's table of APNs errors.", "Apple의 APNs 오류 표에서 이 코드를 찾아보세요."))
  }

  /// The codes that have words of their own.
  package static var known: [ReasonCode] { table.keys.sorted().map(ReasonCode.init(rawValue:)) }
}
