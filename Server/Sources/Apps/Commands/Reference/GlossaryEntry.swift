import PabalPrimitives
package import ServerAPI

/// One word that `pabal explain` knows: a reason, a status of APNs, or an error's code.
package struct GlossaryEntry: Sendable {
  package enum Kind: String, Sendable {
    case reason, status, error
  }

  package let code: String
  package let kind: Kind
  /// APNs' status; `nil` for words that have none.
  package let status: Int?
  package let what: Sentence
  package let why: Sentence
  package let owner: ReasonOwner
  package let advice: Sentence
  /// Words that say more, e.g. the reasons that come with a status.
  package let related: [String]

  var json: JSONValue {
    [
      "code": .string(code), "kind": .string(kind.rawValue), "status": JSONValue(status), "what": Self.both(what),
      "why": Self.both(why),
      "fault": .object([JSONMember("who", .string(owner.rawValue))] + Self.members(owner.sentence)),
      "do": Self.both(advice), "related": .array(related.map { .string($0) }),
    ]
  }

  private static func both(_ sentence: Sentence) -> JSONValue { .object(members(sentence)) }

  private static func members(_ sentence: Sentence) -> [JSONMember] {
    [JSONMember("en", .string(sentence.english)), JSONMember("ko", .string(sentence.korean))]
  }
}
